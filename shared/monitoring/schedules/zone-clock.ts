import { LRUCache } from 'lru-cache'
import { isZoneName } from './time-zones.ts'
import type { WallSeconds } from './wall-pattern.ts'

/** Whole seconds since the Unix epoch. */
export type UnixSeconds = number

/** A stretch of time, `end` excluded, in which a zone keeps one offset (wall time minus Unix time, in seconds). */
type ZoneSegment = { readonly start: UnixSeconds; readonly end: UnixSeconds; readonly offset: number }

/** Where a wall time lies. A repeated one is placed in its first pass; one in a gap has no instant of its own. */
type Placement =
  | { readonly exists: true; readonly at: UnixSeconds; readonly segment: ZoneSegment }
  | { readonly exists: false; readonly afterGap: ZoneSegment }

export type ZoneClock = {
  segmentAt(instant: UnixSeconds): ZoneSegment
  place(wall: WallSeconds): Placement
}

const DAY = 86_400
/** No zone has ever been further ahead of UTC than 15 hours and some minutes. */
const FURTHEST_AHEAD = 16 * 3600
/** Far below the shortest time between two clock changes since 1970 (a week). */
const SAMPLE_STEP = 3 * DAY
const MAX_YEARS_PER_ZONE = 64

const clocks = new LRUCache<string, ZoneClock>({ max: 640 })
/** Formatters are heavy and needed only while a zone's year is worked out. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 32 })

/**
 * The clock of a zone, after the runtime's rules. Asking Intl costs microseconds a call, so each year of a zone is
 * asked about once and then remembered as segments.
 * @returns undefined when the name is no zone here
 */
export function zoneClock(name: string): ZoneClock | undefined {
  const known = clocks.get(name)
  if (known || !isZoneName(name)) return known
  const clock = openClock(name)
  clocks.set(name, clock)
  return clock
}

function openClock(name: string): ZoneClock {
  const years = new Map<number, readonly ZoneSegment[]>()
  let latest: ZoneSegment = { start: 0, end: 0, offset: 0 }

  function segmentsOf(year: number): readonly ZoneSegment[] {
    const known = years.get(year)
    if (known) return known
    const segments = deriveSegments(name, Date.UTC(year, 0, 1) / 1000, Date.UTC(year + 1, 0, 1) / 1000)
    if (years.size >= MAX_YEARS_PER_ZONE) years.clear()
    years.set(year, segments)
    return segments
  }

  function segmentAt(instant: UnixSeconds): ZoneSegment {
    if (instant >= latest.start && instant < latest.end) return latest
    for (const segment of segmentsOf(new Date(instant * 1000).getUTCFullYear())) {
      if (instant < segment.end) {
        latest = segment
        return segment
      }
    }
    throw new RangeError(`no instant: ${instant}`)
  }

  return {
    segmentAt,
    place(wall) {
      let segment = segmentAt(wall - FURTHEST_AHEAD)
      for (;;) {
        if (wall < segment.start + segment.offset) return { exists: false, afterGap: segment }
        if (wall < segment.end + segment.offset) return { exists: true, at: wall - segment.offset, segment }
        segment = segmentAt(segment.end)
      }
    },
  }
}

function deriveSegments(name: string, start: UnixSeconds, end: UnixSeconds): ZoneSegment[] {
  const segments: ZoneSegment[] = []
  let segmentStart = start
  let offset = offsetAt(name, start)
  for (let before = start; before < end; before += SAMPLE_STEP) {
    const sample = Math.min(before + SAMPLE_STEP, end)
    const offsetThen = offsetAt(name, sample)
    if (offsetThen === offset) continue
    const change = firstSecondWithout(name, offset, before, sample)
    if (change === end) break
    segments.push({ start: segmentStart, end: change, offset })
    segmentStart = change
    offset = offsetThen
  }
  segments.push({ start: segmentStart, end, offset })
  return segments
}

/** Halves the stretch until the clock change is known to the second. */
function firstSecondWithout(name: string, offset: number, from: UnixSeconds, to: UnixSeconds): UnixSeconds {
  let last = from
  let first = to
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2)
    if (offsetAt(name, middle) === offset) last = middle
    else first = middle
  }
  return first
}

/** @returns seconds */
function offsetAt(name: string, instant: UnixSeconds): number {
  const [, sign, hours, minutes, seconds] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatterOf(name).format(instant * 1000)) ?? []
  const size = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)
  return sign === '-' ? -size : size
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone)
  if (known) return known
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  formatters.set(timeZone, formatter)
  return formatter
}
