import { decisionText } from '#shared/monitoring/alerting/decision-text.ts'
import { listedState } from '#shared/monitoring/alerting/incident-list.ts'
import type { ShownIncident } from '#shared/monitoring/alerting/incident-page-view.ts'
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
export function whyQuiet(incident: State): string {
  if (listedState(incident) !== 'suppressed') return ''
  return decisionText({ outcome: '', reason: incident.suppression ?? '', detail: {} }).replace(/\.$/, '')
}

/** Returns the assignee, or the last acknowledger; '' without one. */
export function whoOf({ assignee, ackBy, ackedBy }: Pick<ShownIncident, 'assignee' | 'ackBy' | 'ackedBy'>): string {
  return assignee ?? byText(ackBy ?? ackedBy ?? '')
}

/** Integrations whose link was used are stored as `through On-call`. */
export function byText(by: string): string {
  return by.replace(/^through /, 'via ')
}
