/** Seconds since 1970-01-01T00:00:00 in local time, without a zone. In UTC they are Unix seconds. */
export type WallSeconds = number

export type WallFields = {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly months: ReadonlySet<number>
  /** Ascending; undefined means every year. */
  readonly years: readonly number[] | undefined
  /** `weekday` is 0 for Sunday; `lastDay` is the last day of that month. */
  readonly matchesDay: (day: number, weekday: number, lastDay: number) => boolean
}

export type WallPattern = {
  /** Returns the first match after `after`, at the latest in `lastYear`. */
  nextAfter(after: WallSeconds, lastYear: number): WallSeconds | undefined
}

const SECONDS_PER_DAY = 86_400
const NONE = -1

/** With lookup tables a search takes at most twelve steps per year. */
export function wallPattern(fields: WallFields): WallPattern {
  const nextSecond = lookup(fields.seconds, 59)
  const nextMinute = lookup(fields.minutes, 59)
  const nextHour = lookup(fields.hours, 23)
  const firstTime = toSeconds(nextHour(0), nextMinute(0), nextSecond(0))
  const matchingDays = dayMasks(fields.matchesDay)

  function timeFrom(from: number): number {
    const hour = Math.floor(from / 3600)
    if (nextHour(hour) === hour) {
      const minute = Math.floor((from % 3600) / 60)
      if (nextMinute(minute) === minute) {
        const second = nextSecond(from % 60)
        if (second !== NONE) return toSeconds(hour, minute, second)
      }
      const later = nextMinute(minute + 1)
      if (later !== NONE) return toSeconds(hour, later, nextSecond(0))
    }
    const later = nextHour(hour + 1)
    return later === NONE ? NONE : toSeconds(later, nextMinute(0), nextSecond(0))
  }

  return {
    nextAfter(after, lastYear) {
      const from = after + 1
      const today = Math.floor(from / SECONDS_PER_DAY)
      const timeToday = timeFrom(from - today * SECONDS_PER_DAY)
      const date = dateOf(today)
      let { year, month } = date
      let firstDay = today - (date.day - 1)
      let earliest = date.day + (timeToday === NONE ? 1 : 0)

      for (; year <= lastYear; earliest = 1) {
        const lastDay = daysInMonth(year, month)
        if (fields.months.has(month) && (fields.years === undefined || fields.years.includes(year))) {
          // Bit n of a mask is day n of the month. JavaScript ignores a shift by 32, so the check is needed.
          const left = earliest > 31 ? 0 : matchingDays(lastDay, weekdayOf(firstDay)) & (-1 << earliest)
          if (left !== 0) {
            const day = firstDay + lowestBit(left) - 1
            return day * SECONDS_PER_DAY + (day === today ? timeToday : firstTime)
          }
        }
        firstDay += lastDay
        month += 1
        if (month > 12) {
          month = 1
          year += 1
        }
      }
      return undefined
    },
  }
}

export function yearOf(wall: WallSeconds): number {
  return dateOf(Math.floor(wall / SECONDS_PER_DAY)).year
}

/** Several times faster than a Date. Years begin in March here, so that the leap day is the last day. */
function dateOf(daysSince1970: number): { year: number; month: number; day: number } {
  const days = daysSince1970 + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return {
    year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  }
}

function lookup(members: readonly number[], top: number): (from: number) => number {
  const table = new Int8Array(top + 1).fill(NONE)
  for (let n = top, next = NONE; n >= 0; n -= 1) {
    if (members.includes(n)) next = n
    table[n] = next
  }
  return (from) => table[from] ?? NONE
}

/** The bit mask depends only on the length and first weekday of the month, so 28 masks are enough. */
function dayMasks(matchesDay: WallFields['matchesDay']): (lastDay: number, firstWeekday: number) => number {
  const masks: (number | undefined)[] = []
  return (lastDay, firstWeekday) => {
    const kind = (lastDay - 28) * 7 + firstWeekday
    const known = masks[kind]
    if (known !== undefined) return known
    let mask = 0
    for (let day = 1; day <= lastDay; day += 1) {
      if (matchesDay(day, (firstWeekday + day - 1) % 7, lastDay)) mask |= 1 << day
    }
    masks[kind] = mask
    return mask
  }
}

function toSeconds(hour: number, minute: number, second: number): number {
  return hour * 3600 + minute * 60 + second
}

/** 1970-01-01, day 0, was a Thursday. */
function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function lowestBit(mask: number): number {
  return 31 - Math.clz32(mask & -mask)
}
