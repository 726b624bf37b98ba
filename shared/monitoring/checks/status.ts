import { type Micros, microsOfSeconds } from '../../time.ts'
import type { CheckSchedule, CheckState, NextOccurrence, ShownStatus } from './check.ts'
import { countedAt } from './early.ts'
import { hasRules } from './rule-bits.ts'

export type CheckTimes = CheckSchedule & CheckState

/**
 * Returns when the next success is due, ignoring running jobs (docs/spec/monitoring.md#grace-and-deadline).
 * @returns null unless the stored status is up or a first ping is expected, and if the schedule has no further occurrence
 */
export function graceStart(check: CheckTimes, next: NextOccurrence): Micros | null {
  const success = successBefore(check, next)
  if (success === null) return null
  const since = Math.max(success, check.deadlineExtendedAt ?? 0)
  if (check.kind === 'simple') return since + microsOfSeconds(check.timeoutSeconds)
  return next(check.kind, check.schedule, check.tz, since)
}

/** Returns the success from which the next one is due. A check that is watched after an import has none yet. */
function successBefore(check: CheckTimes, next: NextOccurrence): Micros | null {
  if (check.status === 'up' && check.lastPing !== null) {
    return countedAt(check, { at: check.lastPing, duration: check.lastDuration }, next)
  }
  return isFirstExpected(check) ? (check.expectedFrom ?? null) : null
}

function isFirstExpected(check: CheckTimes): boolean {
  return check.status === 'new' && check.lastStart === null
}

/**
 * `next_ping` of the API: the grace start, or the start of the running job if earlier
 * (docs/spec/monitoring.md#grace-and-deadline). Returns null if the check is down, and if it is new or paused without
 * a running job.
 */
export function nextPing(check: CheckTimes, next: NextOccurrence): Micros | null {
  const due = graceStart(check, next)
  if (check.lastStart === null || check.status === 'down') return due
  return due === null ? check.lastStart : Math.min(due, check.lastStart)
}

/** Grace is elapsed time, so a clock change does not affect it. With rules (rule-bits.ts), the stored deadline. */
export function goingDownAt(check: CheckTimes, next: NextOccurrence): Micros | null {
  return hasRules(check) ? check.alertAfter : goingDownAtWithoutRules(check, next)
}

export function goingDownAtWithoutRules(check: CheckTimes, next: NextOccurrence): Micros | null {
  const start = nextPing(check, next)
  return start === null ? null : start + graceMicros(check)
}

/** Both limits belong to the later status (docs/spec/monitoring.md#shown-status). */
export function shownStatus(check: CheckTimes, now: Micros, next: NextOccurrence): ShownStatus {
  if (hasOverrun(check, now)) return 'down'
  if (check.status !== 'up') return check.status
  const due = graceStart(check, next)
  if (due === null || now < due) return 'up'
  return !hasRules(check) && now >= due + graceMicros(check) ? 'down' : 'grace'
}

/** `started` while a job runs within its grace, for version 1 of the API. */
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
