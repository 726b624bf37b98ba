import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import type { ShownIncident, TimelineRow } from '#shared/monitoring/alerting/incident-page-view.ts'
import { formatDuration } from '#shared/monitoring/notifications/text-parts.ts'
import type { Micros } from '#shared/time.ts'
import { ButtonForm, FieldForm } from '../../forms/form.tsx'
import { Crumb, Exact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type Coming, NextMessage } from './next-message.tsx'

interface Props {
  context: Context
  incident: ShownIncident
  /** input of the sentence about the next message */
  coming: Coming
  timeline: readonly TimelineRow[]
  checkPath: string
  mayEdit: boolean
  now: Micros
}

export function IncidentPage({ context, incident, coming, timeline, checkPath, mayEdit, now }: Props) {
  const path = `/incidents/${incident.id}`
  const isOpen = incident.state !== 'resolved'
  return (
    <>
      <Crumb href={checkPath} label={incident.name || 'A check without a name'} />
      <h1>Incident</h1>
      <p class="sentence">
        {sentenceOf(incident, now)}
        {isOpen && (
          <>
            {' '}
            Next message: <NextMessage incident={incident} {...coming} now={now} />
          </>
        )}
      </p>
      {mayEdit && isOpen && incident.state !== 'acknowledged' && (
        <FieldForm
          context={context}
          action={`${path}/ack`}
          class="inline-fields form-wide"
          items={[
            { name: 'note', label: 'Note for the next reader', maxLength: 2000, placeholder: 'I am looking at it' },
          ]}
          submit="Acknowledge"
          isMain
        />
      )}
      {mayEdit && incident.state === 'acknowledged' && (
        <ButtonForm context={context} action={`${path}/unack`} label="Take the acknowledgement back" />
      )}
      <section class="card" aria-labelledby="timeline">
        <h2 id="timeline">What happened</h2>
        <ol class="timeline">
          {timeline.map((row, index) => (
            <li key={index}>
              <span class="muted">
                <Exact at={row.at} isNamed />
              </span>{' '}
              {rowText(row)}
            </li>
          ))}
        </ol>
      </section>
      {mayEdit && (
        <section class="card" aria-labelledby="note-title">
          <h2 id="note-title">Notes and report</h2>
          <FieldForm
            context={context}
            action={`${path}/note`}
            class="inline-fields form-wide"
            items={[{ name: 'text', label: 'Add a note', maxLength: 2000 }]}
            submit="Add"
          />
          <FieldForm
            context={context}
            action={`${path}/report`}
            class="stack form-wide"
            items={[
              {
                name: 'report',
                label: 'Report',
                kind: 'lines',
                value: incident.report,
                rows: 6,
                hint: 'What happened, why, and what is done about it. It stays with the incident.',
              },
            ]}
            submit="Save the report"
          />
        </section>
      )}
    </>
  )
}

/** `Down for 2 hours, acknowledged by Anna.` */
function sentenceOf(incident: ShownIncident, now: Micros): string {
  const { downAt, resolvedAt } = incident
  if (resolvedAt !== null)
    return `Was down for ${formatDuration(Math.max(0, resolvedAt - downAt))}: ${stateText(incident)}.`
  return `Down for ${formatDuration(Math.max(0, now - downAt))}, ${stateText(incident)}.`
}

export function stateText({ state, resolution, ackBy, suppression }: ShownIncident): string {
  if (state === 'resolved') return resolution === 'paused' ? 'the check was paused' : 'resolved'
  if (state === 'acknowledged') return `acknowledged${ackBy ? ` ${nameOf(ackBy)}` : ''}`
  if (suppression !== null)
    return decisionText({ outcome: 'suppressed', reason: suppression, detail: {} }).replace(/\.$/, '').toLowerCase()
  return state === 'waiting' ? 'not notified yet' : 'alerting'
}

/** Returns a user, or the integration whose message contained the link. */
function nameOf(by: string): string {
  return by.startsWith('through ') ? by : `by ${by}`
}

function rowText({ kind, what, detail }: TimelineRow): string {
  const text = (name: string) => (typeof detail[name] === 'string' ? detail[name] : '')
  if (kind === 'flip') return `It went ${what}${detail.reason === 'fail' ? ': a failure was received' : ''}.`
  if (kind === 'notification') return `${text('name')}: ${notificationLabel(what, text('state'), text('error'))}.`
  if (kind === 'gap') {
    const until = text('until').slice(0, 19).replace('T', ' ')
    return `Pings could not be received${until && ` until ${until} UTC`} (${text('cause')}).`
  }
  if (kind === 'action') {
    const [by, more] = [text('by'), text('text') && `: ${text('text')}`]
    return by.startsWith('through ') ? `${PASSIVE[what] ?? what} ${by}${more}` : `${by} ${ACTS[what] ?? what}${more}`
  }
  const inner = typeof detail.detail === 'object' && detail.detail !== null ? { ...detail.detail } : {}
  return decisionText({ outcome: what, reason: text('reason'), detail: inner })
}

/** Returns `notified, delivered`, or the reason against a delivery. */
function notificationLabel(what: string, state: string, error: string): string {
  const why = error && ` (${error})`
  if (state === 'failed') return `not notified${why}`
  if (state === 'suppressed') return `no longer notified${why}`
  return `${NOTIFICATIONS[what] ?? what}, ${state === 'pending' ? 'being sent' : state}${why}`
}

const NOTIFICATIONS: Readonly<Record<string, string>> = {
  flip: 'notified',
  first: 'notified',
  repeat: 'notified again',
  recovery: 'notified of the recovery',
  flapping: 'notified of flapping',
  digest: 'notified together with other checks',
}

const ACTS: Readonly<Record<string, string>> = {
  ack: 'acknowledged it',
  unack: 'took the acknowledgement back',
  assign: 'assigned it',
  note: 'noted',
  report: 'wrote the report',
}

const PASSIVE: Readonly<Record<string, string>> = { ack: 'Acknowledged' }
