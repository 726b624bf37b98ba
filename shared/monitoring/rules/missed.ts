import { type Micros, microsOfSeconds } from '../../time.ts'
import type { CheckTimes, NextOccurrence } from '../checks/status.ts'

/** So many are counted at one finish. */
const MOST = 1_000

/**
 * Counts the occurrences without a finish between the last finish and this one (docs/spec/alerting.md#watched-runs): those whose grace was
 * over, but for the one that this run was in hand of.
 * @param beganAt start of the run that finishes; null without one
 */
export function countMissed(
  check: CheckTimes,
  { lastPing, beganAt, at }: { lastPing: Micros | null; beganAt: Micros | null; at: Micros },
  next: NextOccurrence,
): number {
  if (lastPing === null) return 0
  const grace = microsOfSeconds(check.graceSeconds)
  let count = 0
  let isInHand = false
  let occurrence: Micros | null = lastPing
  while (count < MOST) {
    occurrence =
      check.kind === 'simple'
        ? occurrence + microsOfSeconds(check.timeoutSeconds)
        : next(check.kind, check.schedule, check.tz, occurrence)
    if (occurrence === null || occurrence + grace >= at) break
    if (beganAt !== null && beganAt <= occurrence + grace) isInHand = true
    count += 1
  }
  return Math.max(0, isInHand ? count - 1 : count)
}
