import { type Micros, toSeconds } from '../../time.ts'
import { covered } from '../maintenance/spans.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { hoursSpans } from './layer.ts'
import { DAYS } from './schedule.ts'
import { calendarOf } from './wall-time.ts'

/** Time of one person, in seconds. `night` is 22:00-06:00 in the zone of the schedule. */
export interface PersonReport {
  person: string
  seconds: number
  night: number
  weekend: number
  holiday: number
  shifts: number
}

/** Sums recorded shifts, in the order of the addresses. A holiday counts neither as weekday nor as weekend. */
export function reportOf(
  recorded: readonly (WindowTime & { person: string })[],
  schedule: { tz: string; holidays: readonly string[] },
  from: Micros,
  until: Micros,
): PersonReport[] {
  const calendar = calendarOf(schedule)
  const spansOf = (days: readonly (typeof DAYS)[number][], begin: string, end: string) =>
    hoursSpans([{ days, from: begin, to: end }], calendar, from, until)
  const kinds = {
    night: spansOf(DAYS, '22:00', '06:00'),
    weekend: spansOf(['sat', 'sun'], '00:00', '00:00'),
    holiday: spansOf(['hol'], '00:00', '00:00'),
  }
  const shifts = recorded
    .map((shift) => ({ ...shift, from: Math.max(from, shift.from), until: Math.min(until, shift.until) }))
    .filter((shift) => shift.from < shift.until)
  const people = [...new Set(shifts.map(({ person }) => person))].toSorted()
  return people.map((person) => {
    const own = shifts.filter((shift) => shift.person === person)
    const secondsWithin = (spans: readonly WindowTime[]) =>
      Math.round(toSeconds(own.reduce((sum, shift) => sum + covered(spans, shift.from, shift.until), 0)))
    return {
      person,
      seconds: Math.round(toSeconds(own.reduce((sum, shift) => sum + shift.until - shift.from, 0))),
      night: secondsWithin(kinds.night),
      weekend: secondsWithin(kinds.weekend),
      holiday: secondsWithin(kinds.holiday),
      shifts: own.length,
    }
  })
}
