import type { Micros } from '../../time.ts'
import type { Decision, IncidentState, PersonDecision, Resolution } from './incident.ts'
import type { Severity } from './policy.ts'
import type { PendingReason } from './reasons.ts'

export interface ShownIncident {
  id: string
  n: number
  projectId: number
  checkId: number
  checkUuid: string
  name: string
  /** of the check, separated by spaces */
  tags: string
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
  notified: readonly number[]
  /** skipped part of the wait before each step */
  skips: readonly Micros[]
  isEscalating: boolean
  firstStep: number | null
  /** when the last entry of its plan was sent; null while others may follow */
  exhaustedAt: Micros | null
  /** nothing is left to send, not even a fallback */
  isExhausted: boolean
  policyUuid: string | null
  isDirect: boolean
  assignee: string | null
  ackAt: Micros | null
  ackBy: string | null
  ackVia: string | null
  /** of the account; null unless the acknowledger is a member with a name */
  ackName: string | null
  ackUntil: Micros | null
  isSnoozed: boolean
  /** incident that it is or was merged into */
  leadId: string | null
  /** number of incidents that are merged into it */
  members: number
  /** seconds; null if acknowledgements do not expire */
  ackTimeout: number | null
  nextAt: Micros | null
  report: string
  previous: string | null
  /** from the flip to the first acknowledgement; null without one */
  ackSeconds: number | null
  /** last acknowledger, also after the acknowledgement expired; null without one, and after an undo */
  ackedBy: string | null
}

export interface TimelineRow {
  at: Micros
  kind: 'flip' | 'failure' | 'decision' | 'notification' | 'action' | 'gap'
  what: string
  detail: Readonly<Record<string, unknown>>
}

export interface ShownDecision extends Pick<Decision, 'outcome' | 'reason' | 'detail' | 'until'> {
  id: number
  at: Micros
  flipAt: Micros | null
  flipTo: 'up' | 'down' | null
  incidentId: string | null
  people: readonly PersonDecision[]
  channels: {
    id: string
    outcome: string
    reason: string
    delivery: { state: string; error: string; attempts: number } | null
  }[]
}

export interface ExplainedDecision extends Pick<Decision, 'detail' | 'until' | 'channels'> {
  id: number
  at: Micros
  outcome: Decision['outcome'] | 'deadline_extended'
  reason: string
  flipId: number | null
  incidentId: string | null
}
