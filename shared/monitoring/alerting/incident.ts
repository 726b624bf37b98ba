import type { Micros } from '../../time.ts'
import type { CheckSchedule, StoredStatus } from '../checks/check.ts'
import type { FlipReason } from '../notifications/notification.ts'
import type { Finish } from './failures.ts'
import type { Plan, Severity } from './policy.ts'

export type IncidentState = 'waiting' | 'alerting' | 'acknowledged' | 'resolved'
/** How an incident ended. `ended`: the check was moved, and nothing is sent. */
export type Resolution = 'recovered' | 'paused' | 'ended'

/** Reasons that suppress a whole incident, in the order of evaluation (docs/spec/alerting.md#policies). */
export const SUPPRESSIONS = [
  'ACKNOWLEDGED',
  'RECOVERING',
  'SETTLING',
  'COVERAGE_GAP',
  'MAINTENANCE',
  'PARENT_DOWN',
  'PARENT_LATE',
] as const
type SuppressionReason = (typeof SUPPRESSIONS)[number]
export type PendingReason = 'FAILURES' | 'DOWN_FOR' | 'GROUPING' | 'OUTSIDE_HOURS' | SuppressionReason
export type NotifiedReason =
  | 'DIRECT'
  | 'FIRST'
  | 'STEP'
  | 'REPEAT'
  | 'RECOVERY'
  | 'FLAPPING'
  | 'IN_DIGEST'
  | 'WINDOW_ENDED'
  | 'PARENT_UP'
  | 'PARENT_CYCLE'
  | 'ACK_EXPIRED'
  | 'FIRST_STEP_FAILED'
  | 'UNKNOWN_NOTICE'
export type SkippedReason =
  | 'BELOW_SEVERITY'
  | 'OUTSIDE_HOURS'
  | 'INTEGRATION_GONE'
  | 'INTEGRATION_DISABLED'
  | 'INTEGRATION_IGNORES'
  | 'MONTHLY_RESERVE'
  | 'SUPERSEDED'
  | 'NOT_NOTIFIED_BEFORE'
type UnnotifiedReason =
  | 'FIRST_SUCCESS'
  | 'WAS_PAUSED'
  | 'PAUSED'
  | 'RESUMED'
  | 'RECOVERED_FIRST'
  | 'NO_INTEGRATIONS'
  | 'JOINED'
  | 'MOVED'

/** One outage of one check, from its first flip to down until its lasting recovery. */
export interface Incident {
  /** uuid */
  id: string
  checkId: number
  projectId: number
  state: IncidentState
  /** of the last evaluation; null when told directly or by the implicit policy */
  policyId: number | null
  planVersion: number
  /** told as if there were no policies: only a record */
  isDirect: boolean
  severity: Severity
  downAt: Micros
  /** when the conditions were first met, moved on by every standstill; offsets of the plan count from it */
  alertAt: Micros | null
  /** when the check came up, while the incident is not resolved for all that */
  upAt: Micros | null
  resolvedAt: Micros | null
  resolution: Resolution | null
  flips: number
  failures: number
  flapping: boolean
  suppression: PendingReason | null
  /** for each step how many of its entries have been spoken */
  notified: readonly number[]
  /** of the wait after the step that spoke first, how much was skipped because nobody was reached */
  skipped: Micros
  /** the step that spoke first; null while none has */
  firstStep: number | null
  evaluatedAt: Micros | null
  /** when it is to be evaluated again; null when nothing is to come */
  nextAt: Micros | null
  ack: { at: Micros; by: string; via: string; until: Micros | null } | null
  previous: string | null
}

/** A reason to hold the whole incident during an interval; ended ones count for the plan's clock. */
export interface Suppression {
  reason: SuppressionReason
  since: Micros
  /** null: until something happens that makes the incident due */
  until: Micros | null
  /** what the sentence needs, such as the name of a window */
  detail?: Readonly<Record<string, string>>
}

/** An integration that may be told. */
export interface FactIntegration {
  id: number
  uuid: string
  /** assigned to the check itself, in the order of fan-out */
  isOwn: boolean
  isDisabled: boolean
  ignores: { up: boolean; down: boolean }
  /** keeps a record per outage in an outside system, which must be closed */
  keepsRecord: boolean
  /** four fifths of its monthly limit are used */
  isOverReserve: boolean
}

/** An earlier message of the incident. */
export interface AlertNotification {
  /** uuid of the notification */
  id: string
  integrationId: number
  what: 'flip' | 'first' | 'repeat' | 'recovery' | 'flapping' | 'digest'
  status: 'up' | 'down'
  /** the step that spoke; null for those that no step makes */
  step: number | null
  state: 'pending' | 'delivered' | 'failed' | 'suppressed'
  attempts: number
  /** suppressed because something newer took its place, which says nothing of the integration */
  isReplaced: boolean
}

/** All that `decide` may know. */
export interface Facts {
  check: CheckSchedule & { id: number; projectId: number; status: StoredStatus }
  /** the flip that is handed on; null when only time has passed */
  flip: { id: number; at: Micros; to: 'up' | 'down'; reason: FlipReason } | null
  /** times of the check's flips between up and down, this one included; only needed by policies that watch flapping */
  recentFlips: readonly Micros[]
  /** null: told directly */
  policy: { id: number | null; version: number; plan: Plan } | null
  severity: Severity
  /** the newest finishes, oldest first; only needed by policies that ask for more than one */
  finishes: readonly Finish[]
  channels: readonly FactIntegration[]
  /** of this incident, oldest first */
  notifications: readonly AlertNotification[]
  /** COVERAGE_GAP, MAINTENANCE, PARENT_DOWN and PARENT_LATE, those that ended since the last look included */
  gates: readonly Suppression[]
  /** the check would be held by a parent but for a ring of parents */
  isInCycle: boolean
  /** when the first telling of this policy that waits for others may go; null when none waits */
  groupOpensAt: Micros | null
  /** uuid for an incident that begins now */
  newId: string
  /** the newest incident of the check that is resolved */
  previous: string | null
}

/** One message to be sent. */
export interface NewNotification {
  integrationId: number
  what: 'flip' | 'first' | 'repeat' | 'recovery' | 'flapping'
  status: 'up' | 'down'
  flipId: number | null
  /** offset in the plan, seconds, negative of a step that was brought forward; for direct ones the number of the flip */
  entry: number
  detail: NotificationDetail | null
}

/** What the message says of its place in the plan. */
export interface NotificationDetail {
  step: number
  /** 0 for the first time that the step speaks */
  repeat: number
  reason: NotifiedReason
  /** when it should have been sent, microseconds */
  dueAt: Micros
  /** of the window that it went down in, or of the check that came back; only when that held it until now */
  name?: string
}

export interface IntegrationDecision {
  /** uuid of the integration */
  id: string
  outcome: 'notified' | 'suppressed' | 'skipped'
  reason: NotifiedReason | PendingReason | SkippedReason
}

/** Why something was told, held back or left out. */
export interface Decision {
  outcome: 'notified' | 'suppressed' | 'skipped' | 'none'
  reason: NotifiedReason | PendingReason | SkippedReason | UnnotifiedReason
  detail: Readonly<Record<string, string | number>>
  until: Micros | null
  channels: readonly IntegrationDecision[]
}

export interface Decided {
  /** null when there is none: an up flip without an open incident */
  incident: Incident | null
  notifications: NewNotification[]
  /** tellings that nobody has begun to send and that must not be sent any more */
  withdrawn: string[]
  decision: Decision | null
}
