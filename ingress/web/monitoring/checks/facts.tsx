import type { Policy } from '#shared/monitoring/alerting/policy.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import type { AssignedCheck } from '#shared/monitoring/checks/store.ts'
import type { Downtime } from '#shared/monitoring/flips/downtime.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { type Micros, toDate } from '#shared/time.ts'
import { PlainTable } from '../../lists/list.tsx'
import { CodeBlock, Copyable } from '../../shell/basics.tsx'
import { dayName, everyText, humanDuration, inZone } from '../../shell/format.ts'
import { KindIcon } from '../../shell/icons.tsx'
import { labelOfKind } from '../integrations/labels.ts'
import { filterSentence } from './filter-text.ts'
import { percentUp } from './scale.ts'
import { nextTimes, scheduleText } from './schedule-text.ts'
import { snippets } from './snippets.ts'

export function PingInstructions(props: { check: Check; base: string; pingKey: string | null; emailDomain: string }) {
  const { check, base, pingKey } = props
  const url = `${base}/ping/${check.uuid}`
  const slugUrl = pingKey !== null && check.slug !== '' ? `${base}/ping/${pingKey}/${check.slug}` : null
  const email = `${check.uuid}@${props.emailDomain}`
  return (
    <section class="card" aria-labelledby="how">
      <h2 id="how">How to ping</h2>
      <p class="ping-url">
        <Copyable text={url} label="ping address" />
      </p>
      {slugUrl !== null && (
        <p class="ping-url">
          <Copyable text={slugUrl} label="ping address by slug" />
        </p>
      )}
      {slugUrl !== null && (
        <p class="hint">
          Both URLs ping this check. The first stays the same when the slug changes. The second contains the project’s
          ping key and is easier to read.
        </p>
      )}
      <p class="muted">
        {countedText(check)} Add <code>/start</code> when a run begins, <code>/fail</code> when it failed or to try an
        alert, <code>/log</code> to leave a note, or <code>/</code> and an exit status.
      </p>
      <details class="snippets" open={check.nPings === 0}>
        <summary>Snippets for shell, cron, Python, Node.js, PowerShell, Go and mail</summary>
        {snippets(slugUrl ?? url, email, check).map((snippet, index) => (
          <details key={snippet.id} name="snippet" open={index === 0}>
            <summary>{snippet.label}</summary>
            <CodeBlock text={snippet.text} label={`${snippet.label} lines`} />
          </details>
        ))}
      </details>
    </section>
  )
}

/** Describes the requests that count as pings, by the check's rules. */
function countedText(check: Check): string {
  const requests = check.methods === 'POST' ? 'POST request' : 'request'
  if (!check.filterHttpBody) return `Any ${requests} counts as success.`
  if (check.filterRules) return `${filterSentence(check, check.filterRules)}.`
  const otherwise = check.filterDefaultFail ? 'any other is a failure' : 'any other is ignored'
  const success =
    check.successKw === ''
      ? 'No request counts as success by its body'
      : `A ${requests} whose body holds “${check.successKw}” counts as success`
  return `${success}; ${otherwise}.`
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Omits the time before the first ping. @param props.since null before the first ping */
export function DowntimeTable(props: {
  months: readonly Downtime[]
  since: Micros | null
  /** merged periods that count neither as uptime nor as downtime */
  excluded: readonly WindowTime[]
}) {
  const { months, since, excluded } = props
  return (
    <section class="card" data-region="downtime" aria-labelledby="downtime">
      <h2 id="downtime">Last three months</h2>
      <PlainTable
        columns={[
          {
            title: 'Month',
            isHeading: true,
            cell: ({ month, from }) => (
              <>
                {monthName.format(toDate(month.from))}
                {from !== null && from > month.from && <small>since {dayName.format(toDate(from))}</small>}
              </>
            ),
          },
          { title: 'Up', cell: ({ month, from }) => (from === null ? '–' : percentUp(month, from, excluded)) },
          {
            title: 'Downtime',
            cell: ({ month, from }) => (
              <>
                {from === null ? '–' : month.count === 0 ? 'none' : humanDuration(month.seconds)}
                {month.count > 0 && (
                  <small>
                    {month.count} {month.count === 1 ? 'outage' : 'outages'}
                  </small>
                )}
              </>
            ),
          },
        ]}
        rows={months.map((month) => ({
          month,
          from: since === null || since >= month.until ? null : Math.max(since, month.from),
        }))}
      />
    </section>
  )
}

export function ScheduleFacts({ check, now }: { check: Check; now: Micros }) {
  const next = check.kind === 'simple' ? [] : nextTimes(check.schedule, check.tz, now)
  return (
    <section class="card" aria-labelledby="schedule">
      <h2 id="schedule">Schedule</h2>
      {check.kind !== 'simple' && (
        <p>
          <code>{check.schedule}</code> <span class="muted">{check.tz}</span>
        </p>
      )}
      {check.kind === 'cron' && <p>{scheduleText(check.schedule)}.</p>}
      <p>{expectation(check)}</p>
      <NextTimes times={next} tz={check.tz} />
      {check.kind !== 'simple' && next.length === 0 && <p class="muted">The schedule has no further time.</p>}
    </section>
  )
}

export function NextTimes({ times, tz }: { times: readonly Micros[]; tz: string }) {
  if (times.length === 0) return null
  const zones = [...new Set([tz, 'UTC'])]
  return (
    <PlainTable
      columns={zones.map((zone, index) => ({
        title: index === 0 ? `Next in ${zone}` : zone,
        cell: (at: Micros) => inZone(at, zone) ?? inZone(at, 'UTC'),
      }))}
      rows={times}
    />
  )
}

function expectation(check: Check): string {
  const grace = `Goes down when more than ${humanDuration(check.graceSeconds)} late.`
  return check.kind === 'simple'
    ? `A ping at least ${everyText(check.timeoutSeconds)}. ${grace}`
    : `A ping after each time of the schedule, in the time zone ${check.tz}. ${earlyText(check)}${grace}`
}

function earlyText({ earlySeconds = 0 }: Check): string {
  return earlySeconds === 0 ? '' : `Pings up to ${humanDuration(earlySeconds)} early count for the next time. `
}

export function UsedIntegrations(props: {
  check: AssignedCheck
  integrations: readonly StoredIntegration[]
  /** null without the right to change the check */
  editPath: string | null
  /** null if the check's integrations are notified directly */
  policy: Pick<Policy, 'plan'> | null
}) {
  const { policy } = props
  const used = props.integrations.filter((integration) => props.check.integrationIds.includes(integration.uuid))
  const isNotified = policy?.plan.steps.some(({ channels: integrations }) => integrations === null)
  return (
    <section class="card" aria-labelledby="notified">
      <h2 id="notified">{policy === null ? 'Notifications' : 'Integrations of this check'}</h2>
      {policy !== null && used.length > 0 && (
        <p class="muted">
          {isNotified ? 'The alert policy notifies them.' : 'Not notified: the alert policy uses other integrations.'}
        </p>
      )}
      {used.length === 0 ? (
        <p class="muted">
          {isNotified ? 'None, although the alert policy notifies them.' : 'None.'}{' '}
          {props.editPath !== null && <a href={props.editPath}>Choose integrations</a>}
        </p>
      ) : (
        <ul class="bare">
          {used.map((integration) => (
            <li key={integration.uuid}>
              <KindIcon kind={integration.kind} />{' '}
              <a href={`/integrations/${integration.uuid}`}>{integration.name || labelOfKind(integration.kind)}</a>
              {integration.disabledAt !== null && (
                <>
                  {' '}
                  <span class="pill bad">switched off</span>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Omits rules with default values. */
export function FilterRules({ check }: { check: Check }) {
  const places = [
    ...(check.filterSubject ? ['subjects of mails'] : []),
    ...(check.filterBody ? ['bodies of mails'] : []),
    ...(check.filterHttpBody && !check.filterRules ? ['bodies of requests'] : []),
  ]
  const words = [
    ['failure', check.failureKw],
    ['success', check.successKw],
    ['start', check.startKw],
  ].filter(([, text]) => text !== '')
  if (places.length === 0 && !check.filterHttpBody && check.methods === '' && !check.manualResume) return null
  return (
    <section class="card" aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <ul>
        {check.methods === 'POST' && <li>Only POST requests count; others are recorded and ignored.</li>}
        {check.manualResume && <li>While paused, pings are ignored.</li>}
        {check.filterHttpBody && check.filterRules && <li>{filterSentence(check, check.filterRules)}.</li>}
        {places.length > 0 && (
          <li>
            Looks in {places.join(' and ')}:{' '}
            {words.map(([kind, text]) => `${kind} on “${text}”`).join(', ') || 'no words'}; else{' '}
            {check.filterRules?.else === 'url' ? 'a success' : check.filterDefaultFail ? 'a failure' : 'ignored'}.
          </li>
        )}
      </ul>
    </section>
  )
}
