import type { Micros } from '../../time.ts'
import type { Decision, IncidentState, PendingReason, Resolution } from './incident.ts'
import type { Severity } from './policy.ts'

/** An incident as it is shown. */
export interface ShownIncident {
  id: string
  /** the order of lists */
  n: number
  checkId: number
  checkUuid: string
  name: string
  state: IncidentState
  severity: Severity
  downAt: Micros
  alertAt: Micros | null
  resolvedAt: Micros | null
  resolution: Resolution | null
  flips: number
  failures: number
  flapping: boolean
  suppression: PendingReason | null
  /** for each step of the plan how many of its entries have been spoken */
  notified: readonly number[]
  /** of the wait after the step that spoke first, how much was skipped because nobody was reached */
  skipped: Micros
  firstStep: number | null
  policyUuid: string | null
  isDirect: boolean
  assignee: string | null
  ackAt: Micros | null
  ackBy: string | null
  ackVia: string | null
  ackUntil: Micros | null
  /** seconds; null when acknowledgements do not end by themselves */
  ackTimeout: number | null
  nextAt: Micros | null
  report: string
  previous: string | null
}

/** Something that happened in an incident. */
export interface TimelineRow {
  at: Micros
  kind: 'flip' | 'decision' | 'notification' | 'action' | 'gap'
  /** what of its kind: `down`, an outcome, what was told, what somebody did */
  what: string
  /** more of it, by kind */
  detail: Readonly<Record<string, unknown>>
}

/** A decision as it is shown. */
export interface ShownDecision extends Pick<Decision, 'outcome' | 'reason' | 'detail' | 'until'> {
  id: number
  at: Micros
  flipAt: Micros | null
  flipTo: 'up' | 'down' | null
  incidentId: string | null
  channels: {
    id: string
    outcome: string
    reason: string
    delivery: { state: string; error: string; attempts: number } | null
  }[]
}

/** A decision as it explains a change of a check. */
export interface ExplainedDecision extends Pick<Decision, 'detail' | 'until' | 'channels'> {
  id: number
  at: Micros
  outcome: Decision['outcome'] | 'deadline_extended'
  reason: string
  /** the change that it is about; null for one about no change */
  flipId: number | null
  incidentId: string | null
}
