import type { Micros } from '../../time.ts'
import type { ACCEPTANCE_FIELDS, CheckSettings, KEYWORD_FIELDS, SCHEDULE_FIELDS, SettingsOf } from './fields.ts'

/** The stored status. status.ts derives `grace` and `started` at read time. */
export type StoredStatus = 'new' | 'up' | 'down' | 'paused'

/** Status in the API, badges and metrics (docs/spec/monitoring.md#shown-status). */
export type ShownStatus = StoredStatus | 'grace'

export type CheckSchedule = SettingsOf<typeof SCHEDULE_FIELDS> & {
  /** the rule `early` (early.ts); absent is 0 */
  earlySeconds?: number
}

/** Settings that classify pings (docs/spec/monitoring.md#keyword-filters). */
export type CheckFilters = SettingsOf<typeof ACCEPTANCE_FIELDS> &
  SettingsOf<typeof KEYWORD_FIELDS> & {
    /** the members `filter_...` of the rules; absent or null without them */
    filterRules?: FilterRules | null
  }

export interface FilterRules {
  /** JSON Pointer to the searched member of a request body; null: the whole body */
  json: string | null
  /** decides for a request without a keyword; null: filterDefaultFail */
  else: 'url' | null
}

/** State that pings and time change (docs/spec/monitoring.md#check-state). */
export interface CheckState {
  status: StoredStatus
  nPings: number
  lastPing: Micros | null
  lastStart: Micros | null
  lastStartRid: string | null
  lastDuration: Micros | null
  /** the deadline; null if the check cannot go down without a further ping */
  alertAfter: Micros | null
  /** end of the last coverage gap with an expected ping: counts as a success, for deadlines only */
  deadlineExtendedAt: Micros | null
  /** counts as a success for the deadline of a check that was never pinged; absent where pings are applied */
  expectedFrom?: Micros | null
  /** bit mask of the rules that affect the check (rule-bits.ts); absent is 0 */
  ruleBits?: number
}

export interface Check extends CheckSettings, CheckState {
  filterRules?: FilterRules | null
  earlySeconds?: number
  /** internal; grows with creation, so it is the order of lists */
  id: number
  uuid: string
  projectId: number
  /** random uuid of the check's own badge, unrelated to its uuid */
  badgeKey: string
}

/** Must not throw. A parameter, so that these rules do not depend on calendars. */
export type NextOccurrence = (
  kind: 'cron' | 'oncalendar',
  expression: string,
  tz: string,
  after: Micros,
) => Micros | null
