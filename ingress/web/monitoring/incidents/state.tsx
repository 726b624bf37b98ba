import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import { listedState } from '#shared/monitoring/alerting/incident-list.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
import { acknowledgerOf } from '#shared/monitoring/alerting/incident-text.ts'
import { isPlanned } from '#shared/monitoring/alerting/timeline.ts'

const LOOKS = { alerting: 'is-down', suppressed: '', acknowledged: 'late', resolved: 'good' } as const
const LABELS = { alerting: 'Alerting', acknowledged: 'Acknowledged', resolved: 'Resolved' } as const

type State = Pick<ShownIncident, 'state' | 'suppression' | 'resolution' | 'isSnoozed'>

function labelOf(incident: State): string {
  const state = listedState(incident)
  if (state === 'acknowledged' && incident.isSnoozed) return 'Snoozed'
  if (state === 'suppressed') {
    if (incident.suppression === 'RECOVERING') return 'Recovering'
    return isPlanned(incident.suppression ?? '') ? 'Waiting' : 'Muted'
  }
  return state === 'resolved' && incident.resolution === 'paused' ? 'Paused' : LABELS[state]
}

export function StatePill({ incident }: { incident: State }) {
  return <span class={`pill ${LOOKS[listedState(incident)]}`.trimEnd()}>{labelOf(incident)}</span>
}

/** Returns the reason for which an incident notifies no integration now; '' if it alerts or is resolved. */
export function quietReason(incident: State): string {
  if (listedState(incident) !== 'suppressed') return ''
  return decisionText({ outcome: '', reason: incident.suppression ?? '', detail: {} }).replace(/\.$/, '')
}

type Acknowledged = Parameters<typeof acknowledgerOf>[0]

/** Returns the assignee or the last acknowledger, of a resolved incident the acknowledger first; '' without one. */
export function whoOf(incident: Acknowledged & Pick<ShownIncident, 'state' | 'assignee'>): string {
  const { state, assignee } = incident
  const acknowledger = viaText(acknowledgerOf(incident))
  return (state === 'resolved' && acknowledger) || (assignee ?? acknowledger)
}

/** Returns ` Acknowledged by Anna (SMS).`; '' without an acknowledgement. */
export function acknowledgedText(incident: Acknowledged & Pick<ShownIncident, 'state'>): string {
  const { state } = incident
  const who = viaText(acknowledgerOf(incident))
  if (state !== 'acknowledged' && (state !== 'resolved' || who === '')) return ''
  return ` Acknowledged${who && (who.startsWith('via ') ? ` ${who}` : ` by ${who}`)}.`
}

/** Integrations whose link was used are stored as `through On-call`. */
function viaText(by: string): string {
  return by.replace(/^through /, 'via ')
}
