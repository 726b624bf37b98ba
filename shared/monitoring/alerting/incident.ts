import type { Micros } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'
import type { ContactKind } from '../contacts/contact-kinds.ts'
import type { FlipReason } from '../notifications/notification.ts'
import type { FailingCheck, RunResult } from './failures.ts'
import type { Plan, RecurringTime, Severity, StepTarget } from './policy.ts'
import type { NotifiedReason, PendingReason, SkippedReason, SuppressionReason, UnnotifiedReason } from './reasons.ts'

export type IncidentState = 'waiting' | 'alerting' | 'acknowledged' | 'resolved'
/** `ended`: the check was moved to another project, and nothing is sent. */
export type Resolution = 'recovered' | 'paused' | 'ended'

/** One outage of one check, from its first flip to down until its lasting recovery. */
export interface Incident {
  id: string
  checkId: number
  projectId: number
  state: IncidentState
  /** of the last evaluation; null without a policy or with the implicit one */
  policyId: number | null
  planVersion: number
  /** notified without a policy; the incident is only a record */
  isDirect: boolean
  severity: Severity
  downAt: Micros
  /** when the conditions were first met, plus all suppressed time; offsets of the plan count from it */
  alertAt: Micros | null
  /** when the check came up, while more successes or time are needed to resolve the incident */
  upAt: Micros | null
  resolvedAt: Micros | null
  resolution: Resolution | null
  flips: number
  failures: number
  flapping: boolean
  suppression: PendingReason | null
  notified: readonly number[]
  /** skipped part of the wait before each step: the first step failed, or a person escalated */
  skips: readonly Micros[]
  /** a person requested the next step, and it is not sent yet */
  isEscalating: boolean
  firstStep: number | null
  /** null if no step of its policies had people */
  sequences: SequenceState | null
  /** when the last notification was sent, plus all suppressed time since; null while others may follow */
  exhaustedAt: Micros | null
  evaluatedAt: Micros | null
  /** when it must be evaluated again; null if only an event can change it */
  nextAt: Micros | null
  ack: Acknowledgement | null
  /** incident that it is merged into; changed only by people and by the end of that incident */
  leadId: string | null
  previous: string | null
}

/** One notification of a person: seconds after the begin of the sequence, and a contact method. */
interface SequenceEntry {
  after: number
  method: string
}

/** The notifications that one person gets about one incident. */
export interface Sequence {
  userId: number
  /** through which the policy selected the person */
  targets: readonly StepTarget[]
  /** index of the step; the number of steps for the fallback */
  step: number
  repeat: number
  reason: NotifiedReason
  /** name of the maintenance window or parent that suppressed the step until the start */
  suppressedBy?: string
  /** time on the plan's clock */
  start: Micros
  /** copied from the rules of the person at the start; sent ones are removed */
  entries: readonly SequenceEntry[]
  isEnded: boolean
}

export interface SequenceState {
  /** like `notified` of the incident, which waits for a grouping delay */
  started: readonly number[]
  list: readonly Sequence[]
  /** schedules of sent steps, with the person of the last evaluation */
  shifts: readonly { schedule: string; step: number; person: string | null }[]
  isFallbackUsed: boolean
  isLastResort: boolean
  /** address of a person whom the next evaluation without a suppression notifies */
  reassigned?: string | null
  /** the plan waits for an acknowledgement until this time on its clock */
  resumesAt?: Micros | null
}

interface Acknowledgement {
  at: Micros
  by: string
  via: string
  until: Micros | null
  /** its end notifies again, also without a further step */
  isSnooze: boolean
}

/** An interval in which the incident is suppressed. Past intervals are needed to stop the plan's clock. */
export interface Suppression {
  reason: SuppressionReason
  since: Micros
  /** null: until an event makes the incident due */
  until: Micros | null
  /** values of the decision text, for example the name of a window */
  detail?: Readonly<Record<string, string>>
}

export interface FactIntegration {
  id: number
  uuid: string
  isOwn: boolean
  isDisabled: boolean
  ignores: { up: boolean; down: boolean }
  /** creates a record per outage in an outside system, which must be closed */
  keepsRecord: boolean
  /** people read its messages */
  isReader: boolean
  /** four fifths of its monthly limit are used */
  isOverReserve: boolean
}

export interface AlertNotification {
  id: string
  integrationId: number
  what: 'flip' | 'first' | 'repeat' | 'recovery' | 'flapping' | 'digest' | 'ack'
  status: 'up' | 'down'
  step: number | null
  state: 'pending' | 'delivered' | 'failed' | 'suppressed'
  attempts: number
  /** as in NewNotification */
  entry: number
  /** suppressed because a newer notification replaced it, not because the integration failed */
  isReplaced: boolean
}

export interface FactPerson {
  userId: number
  address: string
  name: string
  methods: readonly { id: string; kind: ContactKind; recoveries: boolean; isUsable: boolean }[]
  /** entries in force, per list of rules */
  critical: readonly SequenceEntry[]
  other: readonly SequenceEntry[]
  quiet: readonly RecurringTime[]
}

export interface PersonalRow extends Omit<AlertNotification, 'integrationId'> {
  userId: number
  /** null after its deletion */
  methodId: string | null
}

/** Persons are members of the organisation with the right `respond`. */
export interface PeopleFacts {
  /** `person` is on call until `until`; null: no person, no near change */
  schedules: readonly { id: string; name: string; person: string | null; until: Micros | null }[]
  people: readonly FactPerson[]
  notifications: readonly PersonalRow[]
}

export interface Facts {
  check: FailingCheck & { id: number; projectId: number; status: StoredStatus }
  /** the flip to process; null when only time has passed */
  flip: { id: number; at: Micros; to: 'up' | 'down'; reason: FlipReason } | null
  /** times of flips between up and down, including this one; only for policies with a flapping rule */
  recentFlips: readonly Micros[]
  /** null: direct notification */
  policy: { id: number | null; version: number; plan: Plan } | null
  severity: Severity
  /** newest success and fail pings, oldest first; only for policies that need more than one failure or success */
  recentResults: readonly RunResult[]
  integrations: readonly FactIntegration[]
  notifications: readonly AlertNotification[]
  /** maintenance, coverage gaps and parents, including suppressions that ended since the last evaluation */
  suppressions: readonly Suppression[]
  /** null if neither the policy nor the incident involves people */
  people: PeopleFacts | null
  /** true if a parent would suppress the check, but its parents form a cycle */
  isInCycle: boolean
  /** when the grouping delay of this policy ends; null if no incident waits */
  groupDelayEndsAt: Micros | null
  newId: string
  previous: string | null
}

export interface NewNotification {
  integrationId: number
  what: 'flip' | 'first' | 'repeat' | 'recovery' | 'flapping' | 'ack'
  status: 'up' | 'down'
  flipId: number | null
  /**
   * Unique per incident, integration and `what`: the offset in the plan in seconds, negated if the step was brought
   * forward; for direct notifications the number of flips.
   */
  entry: number
  detail: NotificationDetail | null
}

export interface NotificationDetail {
  step: number
  repeat: number
  reason: NotifiedReason
  dueAt: Micros
  /** of the maintenance window or parent that suppressed it until now */
  name?: string
  /** name of the on-call schedule that selected the person */
  schedule?: string
  /** of an acknowledgement */
  by?: string
  via?: string
}

/** A notification to a contact method of a person; `entry` is unique per incident, method and `what`. */
export interface PersonalNotification extends Omit<NewNotification, 'integrationId'> {
  userId: number
  methodId: string
  /** seconds after the begin of the sequence; absent outside a sequence */
  after?: number
}

export interface PersonDecision {
  /** null if no person is on call */
  person: string | null
  schedule?: string
  outcome: 'notified' | 'suppressed' | 'skipped'
  reason: NotifiedReason | PendingReason | SkippedReason
}

export interface IntegrationDecision {
  id: string
  outcome: 'notified' | 'suppressed' | 'skipped'
  reason: NotifiedReason | PendingReason | SkippedReason
}

export interface Decision {
  outcome: 'notified' | 'suppressed' | 'skipped' | 'none'
  reason: NotifiedReason | PendingReason | SkippedReason | UnnotifiedReason
  detail: Readonly<Record<string, string | number>>
  until: Micros | null
  channels: readonly IntegrationDecision[]
  people?: readonly PersonDecision[]
}

export interface Decided {
  /** null for an up flip without an open incident */
  incident: Incident | null
  notifications: NewNotification[]
  withdrawn: string[]
  decision: Decision | null
  personal?: PersonalNotification[]
  /** no person was reached: owners and managers get a mail */
  isLastResort?: boolean
}
