import { type Micros, microsOfSeconds } from '../../time.ts'
import type { CheckSchedule, CheckState, ShownStatus } from './check.ts'
import { hasRules } from './rule-bits.ts'

/**
 * The first occurrence strictly after an instant; null when the expression has none left. Must not throw for an
 * expression that was accepted once. Passed in, so that the rules below know nothing of calendars.
 */
export type NextOccurrence = (
  kind: 'cron' | 'oncalendar',
  expression: string,
  tz: string,
  after: Micros,
) => Micros | null

export type CheckTimes = CheckSchedule & CheckState

/**
 * Returns the time at which the next success is due, ignoring running jobs (docs/spec/monitoring.md#grace-and-deadline).
 * @returns null unless the stored status is up, and when the schedule has run out
 */
export function graceStart(check: CheckTimes, next: NextOccurrence): Micros | null {
  if (check.status !== 'up' || check.lastPing === null) return null
  const since = Math.max(check.lastPing, check.deadlineExtendedAt ?? 0)
  if (check.kind === 'simple') return since + microsOfSeconds(check.timeoutSeconds)
  return next(check.kind, check.schedule, check.tz, since)
}

/**
 * `next_ping` of the API: the grace start, or the start of the running job when that is earlier. So while a job
 * runs it lies in the past (docs/spec/monitoring.md#grace-and-deadline).
 * @returns null when stored down, and when new or paused without a running job
 */
export function nextPing(check: CheckTimes, next: NextOccurrence): Micros | null {
  const due = graceStart(check, next)
  if (check.lastStart === null || check.status === 'down') return due
  return due === null ? check.lastStart : Math.min(due, check.lastStart)
}

/**
 * The instant the check goes down if nothing else arrives; what `alertAfter` holds. Grace is added as plain
 * seconds, so a clock change inside it does not stretch it.
 * @returns null when the check cannot go down by itself; of a ruled check what is stored (runs/deadline.ts)
 */
export function goingDownAt(check: CheckTimes, next: NextOccurrence): Micros | null {
  return hasRules(check) ? check.alertAfter : goingDownAtWithoutRules(check, next)
}

/** What goingDownAt says of a check without rules that reach into its truth. */
export function goingDownAtWithoutRules(check: CheckTimes, next: NextOccurrence): Micros | null {
  const start = nextPing(check, next)
  return start === null ? null : start + graceMicros(check)
}

/** The status at an instant (docs/spec/monitoring.md#shown-status). Both borders belong to the later status. */
export function shownStatus(check: CheckTimes, now: Micros, next: NextOccurrence): ShownStatus {
  if (hasOverrun(check, now)) return 'down'
  if (check.status !== 'up') return check.status
  const due = graceStart(check, next)
  if (due === null || now < due) return 'up'
  return !hasRules(check) && now >= due + graceMicros(check) ? 'down' : 'grace'
}

/** The status as version 1 of the API shows it: a job that runs and has not overrun its grace is `started`. */
export function shownStatusV1(check: CheckTimes, now: Micros, next: NextOccurrence): ShownStatus | 'started' {
  if (check.lastStart !== null && !hasOverrun(check, now)) return 'started'
  return shownStatus(check, now, next)
}

function hasOverrun(check: CheckTimes, now: Micros): boolean {
  if (hasRules(check)) return check.alertAfter === null ? check.status === 'down' : now >= check.alertAfter
  return check.lastStart !== null && now >= check.lastStart + graceMicros(check)
}

function graceMicros(check: CheckTimes): Micros {
  return microsOfSeconds(check.graceSeconds)
}
