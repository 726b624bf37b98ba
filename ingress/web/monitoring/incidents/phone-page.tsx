import { render } from 'preact-render-to-string'
import { NO_FURTHER } from '#shared/monitoring/alerting/next-notification.ts'
import { personLabel } from '#shared/monitoring/contacts/person-label.ts'
import {
  type LinkedIncident,
  type LinkedNotification,
  mayAct,
  type NotifiedName,
} from '#shared/monitoring/notifications/link-rules.ts'
import { reasonText } from '#shared/monitoring/notifications/message.ts'
import { type Fact, shortName } from '#shared/monitoring/notifications/text-parts.ts'
import { type Micros, toMillis } from '#shared/time.ts'
import { assets } from '../../shell/assets.ts'
import { distanceText } from '../../shell/format.ts'
import { Logo } from '../../shell/icons.tsx'

interface Props {
  siteName: string
  link: LinkedNotification
  incidents: readonly LinkedIncident[]
  /** integrations and persons that were notified of the only incident */
  notified: readonly NotifiedName[]
  /** the plan has a step that was not sent */
  mayEscalate: boolean
  now: Micros
}

/** Limits the size of the page of a bundle. */
const MAX_LISTED = 50

/** Renders the page behind a link in a message. It contains no ping body, because the link may be forwarded. */
export function phonePage(props: Props): string {
  const { siteName, incidents } = props
  const [first] = incidents
  const title = incidents.length === 1 && first ? nameOf(first) : `${incidents.length} checks`
  const html = render(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · ${siteName}`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <link rel="icon" href={assets.icon.path} />
        <link rel="stylesheet" href={assets.phone.path} />
      </head>
      <body>
        <header>
          <Logo />
          <span>{siteName}</span>
        </header>
        <main>
          {incidents.length === 1 && first ? <Single {...props} incident={first} /> : <Bundle {...props} />}
          <Buttons {...props} />
        </main>
      </body>
    </html>,
  )
  return `<!doctype html>${html}`
}

function Single({ incident, link, notified, now }: Props & { incident: LinkedIncident }) {
  const { downAt, resolvedAt } = incident
  const tz = zoneOf(link, incident)
  const { label, tone } = stateOf(incident)
  const lasted = `Down for ${distanceText(downAt, resolvedAt ?? now)}`
  return (
    <>
      <p class={`state ${tone}`}>{label}</p>
      <h1>{nameOf(incident)}</h1>
      <p>
        {resolvedAt === null
          ? `${lasted} (since ${timeText(downAt, tz, now)})`
          : `${lasted}, until ${timeText(resolvedAt, tz, now)}`}
      </p>
      {incident.isExhausted && <p>{`${NO_FURTHER} until it is up again.`}</p>}
      <dl>
        {factsOf(incident, notified, { tz, now }).map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Bundle({ incidents, link, now }: Props) {
  const open = incidents.filter(({ resolvedAt }) => resolvedAt === null)
  const exhausted = open.filter(({ isExhausted }) => isExhausted).length
  const more = incidents.length - MAX_LISTED
  return (
    <>
      <p class={`state ${open.length === 0 ? 'resolved' : 'down'}`}>{open.length === 0 ? 'Resolved' : 'Down'}</p>
      <h1>{open.length === 0 ? `${incidents.length} checks are up` : `${open.length} checks are down`}</h1>
      <ul>
        {incidents.slice(0, MAX_LISTED).map((incident) => {
          const { label, tone } = stateOf(incident)
          return (
            <li key={incident.id}>
              <a href={`/incidents/${incident.id}`}>{nameOf(incident)}</a>
              <small class={tone}>{`${label}, since ${timeText(incident.downAt, zoneOf(link, incident), now)}`}</small>
            </li>
          )
        })}
      </ul>
      {more > 0 && <p>{`and ${more} more`}</p>}
      {exhausted > 0 && (
        <p>{`${NO_FURTHER}${exhausted < open.length ? ` for ${exhausted} of them` : ''} until they are up again.`}</p>
      )}
    </>
  )
}

function Buttons({ incidents, link, mayEscalate, now }: Props) {
  const count = (action: 'ack' | 'unack') =>
    incidents.filter((incident) => mayAct(action, incident, link.holder, now)).length
  const [first] = incidents
  const open = count('ack')
  return (
    <form method="post">
      {open > 0 && (
        <>
          <button type="submit" name="do" value="ack" class="primary">
            {incidents.length === 1 ? 'Acknowledge' : `Acknowledge all ${open}`}
          </button>
          <button type="submit" name="do" value="snooze">
            Mute 1 h
          </button>
          {mayEscalate && (
            <button type="submit" name="do" value="escalate">
              Escalate now
            </button>
          )}
        </>
      )}
      {count('unack') > 0 && (
        <button type="submit" name="do" value="unack">
          Undo
        </button>
      )}
      {incidents.length === 1 && first && (
        <a class="button" href={`/incidents/${first.id}`}>
          Open incident
        </a>
      )}
    </form>
  )
}

function nameOf({ name }: LinkedIncident): string {
  return shortName(name) || 'A check without a name'
}

/** That of the person whom the link was sent to, otherwise that of the check. */
function zoneOf(link: LinkedNotification, incident: LinkedIncident): string {
  return link.tz ?? incident.tz
}

const MUTED: ReadonlySet<string> = new Set(['MAINTENANCE', 'PARENT_DOWN', 'PARENT_LATE', 'COVERAGE_GAP'])

function stateOf({ state, suppression, ackUntil }: LinkedIncident): { label: string; tone: string } {
  if (state === 'resolved') return { label: 'Resolved', tone: 'resolved' }
  if (state === 'acknowledged')
    return { label: ackUntil === null ? 'Acknowledged' : 'Acknowledged for now', tone: 'acknowledged' }
  const isMuted = suppression !== null && MUTED.has(suppression)
  return isMuted ? { label: 'Down, muted', tone: 'muted' } : { label: 'Down', tone: 'down' }
}

function factsOf(
  incident: LinkedIncident,
  notified: readonly NotifiedName[],
  { tz, now }: { tz: string; now: Micros },
): Fact[] {
  const { reason, exitStatus, severity, ackAt, ackUntil, state } = incident
  const isAcknowledged = state === 'acknowledged'
  return [
    { label: 'Reason', value: reasonText(reason) },
    { label: 'Exit status', value: reason === 'fail' && exitStatus !== null ? String(exitStatus) : '' },
    { label: 'Severity', value: severity },
    { label: 'Notified', value: notifiedText(notified) },
    { label: 'Acknowledged', value: ackAt === null ? '' : `${ackText(incident)}, ${timeText(ackAt, tz, now)}` },
    { label: 'Until', value: isAcknowledged && ackUntil !== null ? timeText(ackUntil, tz, now) : '' },
  ].filter(({ value }) => value !== '')
}

function notifiedText(notified: readonly NotifiedName[]): string {
  const labels = { delivered: '', pending: ' (being sent)', failed: ' (failed)', suppressed: ' (not sent)' }
  return notified.map(({ name, state }) => `${shortName(name)}${labels[state]}`).join(', ')
}

/** `by Anna (SMS)`, or `via On-call` for an integration */
function ackText({ ackBy, ackVia, ackName }: LinkedIncident): string {
  if (!ackBy) return 'Yes'
  return ackVia === 'link' ? ackBy.replace(/^through /, 'via ') : `by ${personLabel(ackBy, ackVia, ackName)}`
}

/** `02:12 CET`, with the date on another day */
function timeText(at: Micros, timeZone: string, now: Micros): string {
  const dayOf = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'short' })
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(toMillis(at))
  const day = dayOf.format(toMillis(at))
  return day === dayOf.format(toMillis(now)) ? time : `${day}, ${time}`
}
