import { type Micros, microsOfDate, microsOfSeconds, toSeconds } from '../../time.ts'
import type { WallSeconds } from '../schedules/wall-pattern.ts'
import { zoneClock } from '../schedules/zone-clock.ts'
import { DAY_SECONDS, DAYS, type Day } from './schedule.ts'

/** Number of days since 1970-01-01. */
export type DateNumber = number

export interface Calendar {
  /** Returns the first instant at which a clock in the zone shows this wall time or a later one. */
  resolve(wall: WallSeconds): Micros
  wallAt(instant: Micros): WallSeconds
  dayOf(date: DateNumber): Day
  holidays: readonly DateNumber[]
}

/** Longer than any clock change has moved a clock. */
const SETTLED_SECONDS = 2 * DAY_SECONDS

/** @throws RangeError for an unknown zone */
export function calendarOf({ tz, holidays }: { tz: string; holidays: readonly string[] }): Calendar {
  const clock = zoneClock(tz)
  if (!clock) throw new RangeError(`unknown time zone: ${tz}`)
  const dates = new Set(holidays.map((date) => dateOf(wallSeconds(`${date}T00:00`))))
  let latest = clock.segmentAt(0)
  return {
    holidays: [...dates],
    resolve(wall) {
      const at = wall - latest.offset
      // Far from a clock change, a wall time is neither repeated nor skipped.
      if (at - latest.start > SETTLED_SECONDS && at < latest.end) return microsOfSeconds(at)
      const placement = clock.place(wall)
      if (!placement.exists) return microsOfSeconds(placement.afterGap.start)
      latest = placement.segment
      return microsOfSeconds(placement.at)
    },
    wallAt(instant) {
      const seconds = Math.floor(toSeconds(instant))
      return seconds + clock.segmentAt(seconds).offset
    },
    dayOf: (date) => (dates.has(date) ? 'hol' : weekdayOf(date)),
  }
}

/** @param text `YYYY-MM-DDTHH:MM` */
export function wallSeconds(text: string): WallSeconds {
  return toSeconds(microsOfDate(new Date(`${text}Z`)))
}

export function wallText(wall: WallSeconds): string {
  return new Date(wall * 1000).toISOString().slice(0, 16)
}

/** `Mon 7 Dec, 09:00` in the zone of a schedule. */
export function wallTimeText(at: Micros, tz: string): string {
  const wall = wallText(calendarOf({ tz, holidays: [] }).wallAt(at))
  const date = new Date(`${wall}Z`)
  const day = date.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
  return `${day.replace(',', '')}, ${wall.slice(11)}`
}

/** @param text `HH:MM` @returns seconds since midnight */
export function timeOfDay(text: string): number {
  const [hours, minutes] = text.split(':')
  return Number(hours) * 3600 + Number(minutes) * 60
}

export function dateOf(wall: WallSeconds): DateNumber {
  return Math.floor(wall / DAY_SECONDS)
}

/** 1970-01-01, date 0, was a Thursday. */
export function weekdayOf(date: DateNumber): Day {
  return DAYS[(((date + 3) % 7) + 7) % 7] ?? 'mon'
}
