import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import type { ShownIncident, TimelineRow } from '#shared/monitoring/alerting/shown-incident.ts'
import { formatDuration } from '#shared/monitoring/notifications/durations.ts'
import type { Micros } from '#shared/time.ts'
import { Form } from '../components/form.tsx'
import { Exact } from '../components/time.tsx'
import type { Context } from '../frame/context.ts'

interface Props {
  context: Context
  incident: ShownIncident
  timeline: readonly TimelineRow[]
  checkPath: string
  mayEdit: boolean
  now: Micros
}

/** One incident: a sentence, what happened, and what its reader can do about it. */
export function IncidentPage({ context, incident, timeline, checkPath, mayEdit, now }: Props) {
  const path = `/incidents/${incident.id}`
  const isOpen = incident.state !== 'resolved'
  return (
    <>
      <p class="crumb">
        <a href={checkPath}>{incident.name || 'A check without a name'}</a>
      </p>
      <h1>Incident</h1>
      <p class="sentence">{sentenceOf(incident, now)}</p>
      {mayEdit && isOpen && incident.state !== 'acknowledged' && (
        <Form context={context} action={`${path}/ack`}>
          <label for="note">Note</label> <input id="note" name="note" maxLength={2000} />{' '}
          <button type="submit" class="primary">
            Acknowledge
          </button>
        </Form>
      )}
      {mayEdit && incident.state === 'acknowledged' && (
        <Form context={context} action={`${path}/unack`}>
          <button type="submit">Take the acknowledgement back</button>
        </Form>
      )}
      <section class="card" aria-labelledby="timeline">
        <h2 id="timeline">What happened</h2>
        <ol class="timeline">
          {timeline.map((row, index) => (
            <li key={index}>
              <Exact at={row.at} /> {rowInWords(row)}
            </li>
          ))}
        </ol>
      </section>
      {mayEdit && (
        <>
          <Form context={context} action={`${path}/note`}>
            <label for="text">Add a note</label> <input id="text" name="text" maxLength={2000} />{' '}
            <button type="submit">Add</button>
          </Form>
          <section class="card" aria-labelledby="report">
            <h2 id="report">Report</h2>
            <Form context={context} action={`${path}/report`}>
              <label class="hidden" for="report-text">
                Report
              </label>
              <textarea id="report-text" name="text" rows={6} maxLength={20_000}>
                {incident.report}
              </textarea>
              <button type="submit">Save the report</button>
            </Form>
          </section>
        </>
      )}
    </>
  )
}

/** `Down for 2 hours, acknowledged by Anna.` */
function sentenceOf(incident: ShownIncident, now: Micros): string {
  const { downAt, resolvedAt, nextAt } = incident
  if (resolvedAt !== null)
    return `Was down for ${formatDuration(Math.max(0, resolvedAt - downAt))}: ${stateInWords(incident)}.`
  const next = nextAt === null ? ' Next message: none.' : ''
  return `Down for ${formatDuration(Math.max(0, now - downAt))}, ${stateInWords(incident)}.${next}`
}

export function stateInWords({ state, resolution, ackBy, held }: ShownIncident): string {
  if (state === 'resolved') return resolution === 'paused' ? 'the check was paused' : 'over'
  if (state === 'acknowledged') return `acknowledged${ackBy ? ` by ${ackBy}` : ''}`
  if (held !== null) return decisionText({ outcome: 'held', reason: held, detail: {} }).replace(/\.$/, '').toLowerCase()
  return state === 'waiting' ? 'nobody is told yet' : 'being told'
}

function rowInWords({ kind, what, detail }: TimelineRow): string {
  const text = (name: string) => (typeof detail[name] === 'string' ? detail[name] : '')
  if (kind === 'flip') return `It went ${what}${detail.reason === 'fail' ? ': a failure was received' : ''}.`
  if (kind === 'telling')
    return `${text('name')}: ${TELLINGS[what] ?? what}, ${text('state')}${text('error') && ` (${text('error')})`}.`
  if (kind === 'act') return `${text('by')} ${ACTS[what] ?? what}${text('text') && `: ${text('text')}`}`
  const inner = typeof detail.detail === 'object' && detail.detail !== null ? { ...detail.detail } : {}
  return decisionText({ outcome: what, reason: text('reason'), detail: inner })
}

const TELLINGS: Readonly<Record<string, string>> = {
  flip: 'told',
  first: 'told',
  repeat: 'told again',
  recovery: 'told that it is up',
  flapping: 'told that it changes too often',
}

const ACTS: Readonly<Record<string, string>> = {
  ack: 'acknowledged it',
  unack: 'took the acknowledgement back',
  assign: 'assigned it',
  note: 'noted',
  report: 'wrote the report',
}
