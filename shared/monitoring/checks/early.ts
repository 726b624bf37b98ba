import { type Micros, microsOfSeconds } from '../../time.ts'
import type { CheckSchedule, NextOccurrence } from './check.ts'

/** The newest success or fail of a check, with the length of its run; null if the run was not measured. */
interface LastFinish {
  at: Micros
  duration: Micros | null
}

/**
 * Returns the instant after which the next occurrence is expected (docs/spec/monitoring.md#grace-and-deadline): the time of the
 * finish, or the occurrence that it was early for. A run is evaluated by its start.
 */
export function countedAt(
  { kind, schedule, tz, earlySeconds = 0 }: CheckSchedule,
  { at, duration }: LastFinish,
  next: NextOccurrence,
): Micros {
  if (kind === 'simple' || earlySeconds === 0) return at
  const began = at - (duration ?? 0)
  const occurrence = next(kind, schedule, tz, began)
  if (occurrence === null) return at
  const distance = occurrence - began
  const isEarly = distance <= microsOfSeconds(earlySeconds)
  // Otherwise the finish is nearer to the occurrence before.
  return isEarly && next(kind, schedule, tz, began - distance) === occurrence ? Math.max(at, occurrence) : at
}

/** Returns half of the shortest interval between successive occurrences: earlier pings count for the one before. */
export function earlyLimit(occurrences: readonly Micros[]): Micros | null {
  const intervals = occurrences.slice(1).map((at, index) => at - (occurrences[index] ?? at))
  return intervals.length === 0 ? null : Math.floor(Math.min(...intervals) / 2)
}

const NEAR: Micros = microsOfSeconds(3_600)

/**
 * Returns the time between a success and the occurrence that was missed after it, if the success came at most an hour
 * before it and was not accepted as early; null otherwise.
 * @param deadline when the check went down
 */
export function missedByEarly(
  check: CheckSchedule,
  success: Micros | null,
  deadline: Micros,
): { early: Micros; occurrence: Micros } | null {
  if (check.kind === 'simple' || success === null) return null
  const occurrence = deadline - microsOfSeconds(check.graceSeconds)
  const early = occurrence - success
  return early > 0 && early <= NEAR ? { early, occurrence } : null
}
