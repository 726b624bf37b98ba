import { LRUCache } from 'lru-cache'
import { isZoneName } from './time-zones.ts'
import type { WallSeconds } from './wall-pattern.ts'

export type UnixSeconds = number

/** A period with one offset (wall time minus Unix time, in seconds). `end` is exclusive. */
type ZoneSegment = { readonly start: UnixSeconds; readonly end: UnixSeconds; readonly offset: number }

/** The instant of a wall time. For a repeated wall time, it is the earlier instant; a skipped wall time has none. */
type Placement =
  | { readonly exists: true; readonly at: UnixSeconds; readonly segment: ZoneSegment }
  | { readonly exists: false; readonly afterGap: ZoneSegment }

type LookUp = (instant: UnixSeconds) => number

export type ZoneClock = {
  segmentAt(instant: UnixSeconds): ZoneSegment
  place(wall: WallSeconds): Placement
}

const DAY = 86_400
/** No zone has ever been ahead of UTC by 16 hours. */
const MAX_OFFSET_SECONDS = 16 * 3600
/** Two clock changes since 1970 are at least a week minus an hour apart (Gaza, Brazil), so no change is missed. */
const SAMPLE_STEP = 6 * DAY
/** The last irregular clock changes, around Ramadan in Morocco, are in 2087. */
const FIRST_REPEATING_YEAR = 2088
const MAX_YEARS_PER_ZONE = 256

const clocks = new Map<string, ZoneClock>()
/** Formatters need much memory and are used only when a year is derived. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 32 })

/** Uses the time zone data of the runtime. Returns undefined for an unknown name. */
export function zoneClock(name: string): ZoneClock | undefined {
  const known = clocks.get(name)
  if (known || !isZoneName(name)) return known
  const clock = createZoneClock((instant) => offsetAt(name, instant))
  clocks.set(name, clock)
  return clock
}

/**
 * Caches each year as segments, because a lookup in Intl costs about a microsecond. Years after 2088 reuse a year
 * with the same calendar, so a search to 2199 looks up fewer than 80 years.
 */
export function createZoneClock(lookUp: LookUp): ZoneClock {
  const years = new Map<number, readonly ZoneSegment[]>()
  let latest: ZoneSegment = { start: 0, end: 0, offset: 0 }

  function segmentsOf(year: number): readonly ZoneSegment[] {
    const known = years.get(year)
    if (known) return known
    const model = modelOf(year)
    const segments =
      model === year
        ? deriveSegments(lookUp, startOf(year), startOf(year + 1))
        : moved(segmentsOf(model), startOf(year) - startOf(model))
    for (const oldest of years.keys()) {
      if (years.size < MAX_YEARS_PER_ZONE) break
      years.delete(oldest)
    }
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
      let segment = segmentAt(wall - MAX_OFFSET_SECONDS)
      for (;;) {
        if (wall < segment.start + segment.offset) return { exists: false, afterGap: segment }
        if (wall < segment.end + segment.offset) return { exists: true, at: wall - segment.offset, segment }
        segment = segmentAt(segment.end)
      }
    },
  }
}

/** Returns the first year from 2088 on with the same calendar, which has its clock changes on the same dates. */
function modelOf(year: number): number {
  for (let model = FIRST_REPEATING_YEAR; model < year; model += 1) {
    if (isSameCalendar(model, year)) return model
  }
  return year
}

function isSameCalendar(a: number, b: number): boolean {
  const daysApart = (startOf(b) - startOf(a)) / DAY
  const isEqualLength = startOf(a + 1) - startOf(a) === startOf(b + 1) - startOf(b)
  return isEqualLength && daysApart % 7 === 0
}

function startOf(year: number): UnixSeconds {
  return Date.UTC(year, 0, 1) / 1000
}

function moved(segments: readonly ZoneSegment[], seconds: number): ZoneSegment[] {
  return segments.map(({ start, end, offset }) => ({ start: start + seconds, end: end + seconds, offset }))
}

function deriveSegments(lookUp: LookUp, start: UnixSeconds, end: UnixSeconds): ZoneSegment[] {
  const segments: ZoneSegment[] = []
  let segmentStart = start
  let offset = lookUp(start)
  for (let before = start; before < end; before += SAMPLE_STEP) {
    const sample = Math.min(before + SAMPLE_STEP, end)
    const offsetThen = lookUp(sample)
    if (offsetThen === offset) continue
    const change = firstSecondWithout(lookUp, offset, before, sample)
    if (change === end) break
    segments.push({ start: segmentStart, end: change, offset })
    segmentStart = change
    offset = offsetThen
  }
  segments.push({ start: segmentStart, end, offset })
  return segments
}

function firstSecondWithout(lookUp: LookUp, offset: number, from: UnixSeconds, to: UnixSeconds): UnixSeconds {
  let last = from
  let first = to
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2)
    if (lookUp(middle) === offset) last = middle
    else first = middle
  }
  return first
}

function offsetAt(name: string, instant: UnixSeconds): number {
  const [, sign, hours, minutes, seconds] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatterOf(name).format(instant * 1000)) ?? []
  const size = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)
  return sign === '-' ? -size : size
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone)
  if (known) return known
  // Without a date field, Intl formats the whole date, which takes twice as long.
  const formatter = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'narrow', timeZoneName: 'longOffset' })
  formatters.set(timeZone, formatter)
  return formatter
}
