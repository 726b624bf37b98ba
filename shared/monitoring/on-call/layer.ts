import type { Micros } from '../../time.ts'
import { merged } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'
import type { WallSeconds } from '../schedules/wall-pattern.ts'
import { DAY_SECONDS, type Day, type Hours, type Layer } from './schedule.ts'
import { type Calendar, dateOf, timeOfDay, wallSeconds, weekdayOf } from './wall-time.ts'

/** Time of one person in one layer. */
export interface LayerSpan extends WindowTime {
  person: string
}

interface Handoff {
  shift: number
  wall: WallSeconds
  at: Micros
}

/** Handoff k is the instant at which shift k of the rotation begins; shift 0 begins with the layer. */
interface Handoffs {
  /** Returns the greatest k whose handoff is not after `at`, which is not before the start of the layer. */
  shiftAt(at: Micros): number
  /** Lists later handoffs in ascending order. */
  after(at: Micros): Generator<Handoff>
}

/** Two handoffs at one instant, both in a skipped hour, leave the earlier shift without length. */
export function layerSpans(layer: Layer, calendar: Calendar, from: Micros, until: Micros): LayerSpan[] {
  const begin = Math.max(from, calendar.resolve(wallSeconds(layer.start)))
  const end = layer.end === null ? until : Math.min(until, calendar.resolve(wallSeconds(layer.end)))
  const { people } = layer
  if (begin >= end || people.length === 0) return []
  const handoffs = handoffsOf(layer, calendar)
  const personOf = (shift: number) => people[shift % people.length] ?? ''
  const spans: LayerSpan[] = []
  let current = { from: begin, person: personOf(handoffs.shiftAt(begin)) }
  for (const { shift, at } of handoffs.after(begin)) {
    if (at >= end) break
    if (at > current.from) spans.push({ ...current, until: at })
    current = { from: at, person: personOf(shift) }
  }
  spans.push({ ...current, until: end })
  return layer.hours.length === 0 ? spans : within(spans, hoursSpans(layer.hours, calendar, begin, end))
}

/** Returns merged spans, cut to `from` and `until`. */
export function hoursSpans(hours: readonly Hours[], calendar: Calendar, from: Micros, until: Micros): WindowTime[] {
  const rules = hours.map(({ days, ...rule }) => {
    const begin = timeOfDay(rule.from)
    const end = timeOfDay(rule.to)
    return { days: new Set(days), begin, end: end > begin ? end : end + DAY_SECONDS }
  })
  const spans: WindowTime[] = []
  // A skipped or repeated date lies within two days.
  const last = dateOf(calendar.wallAt(until)) + 2
  for (let date = dateOf(calendar.wallAt(from)) - 3; date <= last; date += 1) {
    const day = calendar.dayOf(date)
    for (const { days, begin, end } of rules) {
      if (!days.has(day)) continue
      const span = {
        from: Math.max(from, calendar.resolve(date * DAY_SECONDS + begin)),
        until: Math.min(until, calendar.resolve(date * DAY_SECONDS + end)),
      }
      if (span.from < span.until) spans.push(span)
    }
  }
  return merged(spans)
}

/** Returns the next handoff after `at` as a wall time, and the position in `people` of the next person. */
export function nextHandoff(layer: Layer, calendar: Calendar, at: Micros): { wall: WallSeconds; index: number } | null {
  const start = calendar.resolve(wallSeconds(layer.start))
  const length = layer.people.length
  if (at < start) return { wall: wallSeconds(layer.start), index: 0 }
  const { value: next } = handoffsOf(layer, calendar).after(at).next()
  return next && length > 0 ? { wall: next.wall, index: next.shift % length } : null
}

/** Both lists are in ascending order. */
function within(spans: readonly LayerSpan[], covered: readonly WindowTime[]): LayerSpan[] {
  const result: LayerSpan[] = []
  let first = 0
  for (const span of spans) {
    while ((covered[first]?.until ?? Number.POSITIVE_INFINITY) <= span.from) first += 1
    for (let index = first; index < covered.length; index += 1) {
      const each = covered[index]
      if (!each || each.from >= span.until) break
      const from = Math.max(span.from, each.from)
      result.push({ from, until: Math.min(span.until, each.until), person: span.person })
    }
  }
  return result
}

function handoffsOf({ start, rotation }: Layer, calendar: Calendar): Handoffs {
  const { unit, every, on } = rotation
  if (on) return countedHandoffs(wallSeconds(start), every, new Set(on), calendar)
  const length = { hour: 3600, day: DAY_SECONDS, week: 7 * DAY_SECONDS }[unit]
  return evenHandoffs(wallSeconds(start), every * length, calendar)
}

function evenHandoffs(start: WallSeconds, step: number, { resolve, wallAt }: Calendar): Handoffs {
  const at = (shift: number) => resolve(start + shift * step)
  const shiftAt = (instant: Micros) => {
    let shift = Math.floor((wallAt(instant) - start) / step)
    // After a clock change the estimate is off by its length.
    while (at(shift + 1) <= instant) shift += 1
    while (shift > 0 && at(shift) > instant) shift -= 1
    return shift
  }
  return {
    shiftAt,
    *after(instant) {
      for (let shift = shiftAt(instant) + 1; ; shift += 1) yield { shift, wall: start + shift * step, at: at(shift) }
    },
  }
}

/** Handoffs at the time of `start`, on each `every`-th date after it whose day is counted. */
function countedHandoffs(start: WallSeconds, every: number, on: ReadonlySet<Day>, calendar: Calendar): Handoffs {
  const startDate = dateOf(start)
  const wallOf = (date: number) => date * DAY_SECONDS + (start - startDate * DAY_SECONDS)
  const perWeek = [0, 1, 2, 3, 4, 5, 6].filter((date) => on.has(weekdayOf(date))).length
  const isCounted = (date: number) => on.has(calendar.dayOf(date))

  /** Returns the number of counted dates after the start date, up to `date`. */
  function count(date: number): number {
    const weeks = Math.floor((date - startDate) / 7)
    let sum = weeks * perWeek
    for (let each = startDate + weeks * 7 + 1; each <= date; each += 1) if (on.has(weekdayOf(each))) sum += 1
    for (const holiday of calendar.holidays) {
      if (holiday > startDate && holiday <= date) sum += Number(on.has('hol')) - Number(on.has(weekdayOf(holiday)))
    }
    return sum
  }

  function latestDate(instant: Micros): number {
    let date = dateOf(calendar.wallAt(instant)) + 1
    while (date > startDate && calendar.resolve(wallOf(date)) > instant) date -= 1
    return date
  }

  const lastHoliday = Math.max(startDate, ...calendar.holidays)
  return {
    shiftAt: (instant) => Math.floor(count(latestDate(instant)) / every),
    *after(instant) {
      let date = latestDate(instant)
      let counted = count(date)
      // Without a counted weekday, only holidays count, which end.
      while (perWeek > 0 || date < lastHoliday) {
        date += 1
        if (!isCounted(date)) continue
        counted += 1
        const wall = wallOf(date)
        if (counted % every === 0) yield { shift: counted / every, wall, at: calendar.resolve(wall) }
      }
    },
  }
}
