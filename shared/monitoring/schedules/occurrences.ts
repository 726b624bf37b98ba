import { type WallPattern, yearOf } from './wall-pattern.ts'
import type { UnixSeconds, ZoneClock } from './zone-clock.ts'

/** `clock` undefined means UTC. */
export type ZonedPattern = { readonly pattern: WallPattern; readonly clock: ZoneClock | undefined }

/** Maximum rounds of a search. Each round passes a clock change or skipped times, so usual searches need only a few. */
const STEP_LIMIT = 1000
/** Longer than any clock change has ever moved a clock. */
const SAFE_DISTANCE = 2 * 86_400

/** Skipped wall times do not occur, repeated ones occur twice (docs/spec/monitoring.md#cron). */
export function nextInRealTime(
  { pattern, clock }: ZonedPattern,
  after: UnixSeconds,
  lastYear: number,
): UnixSeconds | undefined {
  if (!clock) return pattern.nextAfter(after, lastYear)
  let from = after
  for (let step = 0; step < STEP_LIMIT; step += 1) {
    const segment = clock.segmentAt(from + 1)
    const wall = pattern.nextAfter(from + segment.offset, lastYear)
    const at = wall === undefined ? Number.POSITIVE_INFINITY : wall - segment.offset
    if (at < segment.end) return at
    // The clock change may repeat wall times, so the search continues there, unless it is far from both ends.
    const isChangeFar = segment.end - from > SAFE_DISTANCE
    if (isChangeFar && wall === undefined) return undefined
    from = Math.max(segment.end, isChangeFar ? at - SAFE_DISTANCE : 0) - 1
  }
  return undefined
}

/**
 * Searches in wall time; a repeated wall time counts only once, the first time. A match in a gap is moved to its end
 * (`moved`: cron at fixed times) or omitted (`skipped`: OnCalendar), see docs/spec/monitoring.md#cron. Returns
 * undefined if nothing matches up to `lastYear`.
 */
export function nextInWallTime(
  { pattern, clock }: ZonedPattern,
  after: UnixSeconds,
  lastYear: number,
  inGap: 'moved' | 'skipped',
): UnixSeconds | undefined {
  if (!clock) return pattern.nextAfter(after, lastYear)
  let from = after + clock.segmentAt(after).offset
  for (let step = 0; step < STEP_LIMIT; step += 1) {
    const wall = pattern.nextAfter(from, lastYear)
    if (wall === undefined) return undefined
    const placement = clock.place(wall)
    if (placement.exists) {
      if (placement.at > after) return placement.at
      // `after` is in the repetition of these wall times, which no longer counts.
      from = placement.segment.end + placement.segment.offset - 1
    } else {
      const { start, offset } = placement.afterGap
      if (inGap === 'moved' && start > after) return start
      from = start + offset - 1
    }
  }
  return undefined
}

export function wallYearAt(clock: ZoneClock | undefined, instant: UnixSeconds): number {
  return yearOf(instant + (clock?.segmentAt(instant).offset ?? 0))
}
