/** Reasons that suppress a whole incident, in the order of evaluation (docs/spec/alerting.md#policies). */
export const SUPPRESSIONS = [
  'ACKNOWLEDGED',
  'MERGED',
  'RECOVERING',
  'SETTLING',
  'COVERAGE_GAP',
  'MAINTENANCE',
  'PARENT_DOWN',
  'PARENT_LATE',
] as const
export type SuppressionReason = (typeof SUPPRESSIONS)[number]
export type PendingReason = 'QUIET_HOURS' | 'FAILURES' | 'DOWN_FOR' | 'GROUPING' | 'OUTSIDE_HOURS' | SuppressionReason
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
  | 'SNOOZE_ENDED'
  | 'ESCALATED'
  | 'FIRST_STEP_FAILED'
  | 'NOBODY_REACHED'
  | 'SHIFT_CHANGED'
  | 'REASSIGNED'
  | 'FALLBACK'
  | 'LAST_RESORT'
  | 'ACKNOWLEDGED'
  | 'UNKNOWN_NOTICE'
export type SkippedReason =
  | 'BELOW_SEVERITY'
  | 'OUTSIDE_HOURS'
  | 'INTEGRATION_GONE'
  | 'INTEGRATION_DISABLED'
  | 'INTEGRATION_IGNORES'
  | 'MONTHLY_RESERVE'
  | 'SUPERSEDED'
  | 'NOBODY_ON_CALL'
  | 'UNREACHABLE'
  | 'ALREADY_NOTIFIED'
  | 'SHIFT_ENDED'
  | 'METHOD_GONE'
  | 'METHOD_DISABLED'
  | 'NOT_NOTIFIED_BEFORE'
export type UnnotifiedReason =
  | 'FIRST_SUCCESS'
  | 'WAS_PAUSED'
  | 'PAUSED'
  | 'RESUMED'
  | 'RECOVERED_FIRST'
  | 'NO_INTEGRATIONS'
  | 'JOINED'
  | 'MOVED'
