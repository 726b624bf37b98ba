import { type Micros, microsOfSeconds } from '../../time.ts'
import type { CheckSchedule, CheckState } from '../checks/check.ts'
import { countedAt } from '../checks/early.ts'
import { nextOccurrence } from '../schedules/schedule.ts'

export interface Finish {
  at: Micros
  ok: boolean
}

export const MAX_FINISHES = 64

/** `lastDuration` is that of the finish at `lastPing`. */
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
 * Counts fail pings, and each occurrence after the last finish whose grace is over (docs/spec/alerting.md#policies).
 * A run that overran counts once, unless an occurrence was missed since that finish. `finishes` are oldest first.
 */
export function countFailures(
  check: FailingCheck,
  finishes: readonly Finish[],
  { need, of, downAt, now }: { need: number; of: number | null; downAt: Micros; now: Micros },
): FailureCount {
  const last = finishes.at(-1)
  const { missed, nextAt } = last ? missesSince(check, sinceOf(check, last), now) : { missed: [], nextAt: null }
  const isOverrun = missed.length === 0 && (last?.ok ?? true) && downAt <= now && downAt > (last?.at ?? 0)
  const events: Finish[] = [
    ...finishes,
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

/** The run of the newest finish was measured only if the check still has its length. */
function sinceOf(check: FailingCheck, { at }: Finish): Micros {
  return countedAt(check, { at, duration: check.lastPing === at ? (check.lastDuration ?? null) : null }, nextOccurrence)
}

/** Returns the missed deadlines after a finish, at most MAX_FINISHES + 1, and the next deadline. */
function missesSince(check: CheckSchedule, since: Micros, now: Micros) {
  const grace = microsOfSeconds(check.graceSeconds)
  const missed: Micros[] = []
  let occurrence: Micros | null = since
  for (let count = 0; count <= MAX_FINISHES; count++) {
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
