import { type Micros, microsOfSeconds } from '../../time.ts'
import type { CheckSchedule, CheckState } from '../checks/check.ts'
import { countedAt } from '../checks/early.ts'
import { nextOccurrence } from '../schedules/schedule.ts'

/** A success or fail ping. */
export interface RunResult {
  at: Micros
  ok: boolean
}

/** Number of results that are read per check. */
export const MAX_RESULTS = 64

/** `lastDuration` is the run time that ended at `lastPing`. */
export type FailingCheck = CheckSchedule & Partial<Pick<CheckState, 'lastPing' | 'lastDuration'>>

export interface FailureCount {
  have: number
  /** when the last needed failure happened; null while there are fewer */
  metAt: Micros | null
  /** when the next expected success will be missed; null if none is expected */
  nextAt: Micros | null
  successes: number
}

/**
 * Counts fail pings, and each occurrence after the last result whose grace is over (docs/spec/alerting.md#policies).
 * A run that overran counts once, unless an occurrence was missed since that result. `results` are oldest first.
 */
export function countFailures(
  check: FailingCheck,
  results: readonly RunResult[],
  { need, of, downAt, now }: { need: number; of: number | null; downAt: Micros; now: Micros },
): FailureCount {
  const last = results.at(-1)
  const { missed, nextAt } = last ? missesSince(check, sinceOf(check, last), now) : { missed: [], nextAt: null }
  const isOverrun = missed.length === 0 && (last?.ok ?? true) && downAt <= now && downAt > (last?.at ?? 0)
  const events: RunResult[] = [
    ...results,
    ...missed.map((at) => ({ at, ok: false })),
    ...(isOverrun ? [{ at: downAt, ok: false }] : []),
  ]
  const lastSuccess = events.findLastIndex(({ ok }) => ok)
  const counted = of === null ? events.slice(lastSuccess + 1) : events.slice(-of)
  const failed = counted.filter(({ ok }) => !ok)
  const lastFailure = events.findLastIndex(({ ok }) => !ok)
  return {
    have: failed.length,
    metAt: failed[need - 1]?.at ?? null,
    nextAt,
    successes: events.length - 1 - lastFailure,
  }
}

/** The run time of the newest result is known only while the check still stores it. */
function sinceOf(check: FailingCheck, { at }: RunResult): Micros {
  return countedAt(check, { at, duration: check.lastPing === at ? (check.lastDuration ?? null) : null }, nextOccurrence)
}

/** Returns the missed deadlines after a result, at most MAX_RESULTS + 1, and the next deadline. */
function missesSince(check: CheckSchedule, since: Micros, now: Micros) {
  const grace = microsOfSeconds(check.graceSeconds)
  const missed: Micros[] = []
  let occurrence: Micros | null = since
  for (let count = 0; count <= MAX_RESULTS; count++) {
    occurrence =
      check.kind === 'simple'
        ? occurrence + microsOfSeconds(check.timeoutSeconds)
        : nextOccurrence(check.kind, check.schedule, check.tz, occurrence)
    if (occurrence === null) return { missed, nextAt: null }
    if (occurrence + grace > now) return { missed, nextAt: occurrence + grace }
    missed.push(occurrence + grace)
  }
  return { missed, nextAt: null }
}
