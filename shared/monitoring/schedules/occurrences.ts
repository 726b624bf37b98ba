import { type WallPattern, yearOf } from './wall-pattern.ts'
import type { UnixSeconds, ZoneClock } from './zone-clock.ts'

/** A pattern, and the wall clock it is read from; no clock means UTC. */
export type ZonedPattern = { readonly pattern: WallPattern; readonly clock: ZoneClock | undefined }

/**
 * How often a search may go round. Each round ends beyond a clock change or a whole skipped stretch, so an honest
 * search takes a handful.
 */
const STEP_LIMIT = 1000
/** More than any clock change has ever moved a clock, so nothing within it can be jumped over. */
const SAFE_DISTANCE = 2 * 86_400

/**
 * The first instant strictly after `after` whose wall time matches, walking real time: skipped wall times do not occur,
 * repeated ones occur twice (interval mode, docs/spec/monitoring.md#cron).
 * @returns undefined when nothing matches in or before `lastYear`
 */
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
    // The clock change may repeat wall times, so the search goes on at the change, unless it is far from both ends.
    const isChangeFar = segment.end - from > SAFE_DISTANCE
    if (isChangeFar && wall === undefined) return undefined
    from = Math.max(segment.end, isChangeFar ? at - SAFE_DISTANCE : 0) - 1
  }
  return undefined
}

/**
 * The first instant strictly after `after`, walking wall time and then placing each result in the zone: a repeated wall
 * time counts once, in its first pass. One in a gap is moved to the end of the gap (`moved`: cron at fixed times) or
 * left out (`skipped`: OnCalendar); docs/spec/monitoring.md#cron, 7.3, and 7.5 for starts within a second pass.
 * @returns undefined when nothing matches in or before `lastYear`
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
      // `after` lies in a second pass: whatever the first pass still holds is over.
      from = placement.segment.end + placement.segment.offset - 1
    } else {
      const { start, offset } = placement.afterGap
      if (inGap === 'moved' && start > after) return start
      from = start + offset - 1
    }
  }
  return undefined
}

/** The year shown by the wall clock at an instant. */
export function wallYearAt(clock: ZoneClock | undefined, instant: UnixSeconds): number {
  return yearOf(instant + (clock?.segmentAt(instant).offset ?? 0))
}
