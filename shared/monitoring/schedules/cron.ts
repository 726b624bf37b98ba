import { type Bounds, everyNth, parseDigits, parseWithin, sorted, span, splitOnce } from './number-list.ts'
import { type WallPattern, wallPattern } from './wall-pattern.ts'

/** `walksRealTime` is the interval mode of docs/spec/monitoring.md#cron. */
export type CronSchedule = { readonly pattern: WallPattern; readonly walksRealTime: boolean }

export const CRON_HORIZON_YEARS = 50

const MINUTE: Bounds = { first: 0, last: 59 }
const HOUR: Bounds = { first: 0, last: 23 }
const DAY: Bounds = { first: 1, last: 31 }
const MONTH: Bounds = { first: 1, last: 12 }
const WEEKDAY: Bounds = { first: 0, last: 7 }
const MONTH_NAMES = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const MAX_DAY_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

type ReadNumber = (text: string) => number | undefined
type DaysOfMonth = { listed: ReadonlySet<number>; last: boolean; lastWorkday: boolean }
/** Weekdays 0 to 6; ranks 1 to 5 are the n-th such weekday of the month. */
type DaysOfWeek = { listed: ReadonlySet<number>; ranked: ReadonlySet<string>; lasts: ReadonlySet<number> }

/** Returns undefined for an invalid expression. A valid one may still match no time (docs/spec/monitoring.md#cron). */
export function parseCron(expression: string): CronSchedule | undefined {
  const [minuteText, hourText, dayText, monthText, weekdayText, ...rest] = expression.trim().toUpperCase().split(/\s+/)
  if (!minuteText || !hourText || !dayText || !monthText || !weekdayText || rest.length > 0) return undefined

  const minutes = parseField(minuteText, MINUTE, (text) => parseWithin(text, MINUTE))
  const hours = parseField(hourText, HOUR, (text) => parseWithin(text, HOUR))
  const days = parseDaysOfMonth(dayText)
  const months = parseField(monthText, MONTH, namedNumber(MONTH_NAMES, MONTH))
  const weekdays = parseDaysOfWeek(weekdayText)
  if (!minutes || !hours || !days || !months || !weekdays || isBeyondEveryMonth(days, months)) return undefined

  const bothMustMatch = dayText.startsWith('*') || weekdayText.startsWith('*')
  return {
    walksRealTime: minuteText.startsWith('*') || hourText.startsWith('*'),
    pattern: wallPattern({
      seconds: [0],
      minutes,
      hours,
      months: new Set(months),
      years: undefined,
      matchesDay(day, weekday, lastDay) {
        const inMonth = matchesDayOfMonth(days, day, weekday, lastDay)
        const inWeek = matchesDayOfWeek(weekdays, day, weekday, lastDay)
        return bothMustMatch ? inMonth && inWeek : inMonth || inWeek
      },
    }),
  }
}

function parseDaysOfMonth(text: string): DaysOfMonth | undefined {
  const listed: number[] = []
  let last = false
  let lastWorkday = false
  for (const element of text.split(',')) {
    const [term, step] = splitOnce(element, '/')
    if (term === 'L' || term === 'LW') {
      // A step has no effect here, but it must be valid.
      if (step !== undefined && !parseDigits(step)) return undefined
      if (term === 'L') last = true
      else lastWorkday = true
      continue
    }
    const members = parseElement(element, DAY, (value) => parseWithin(value, DAY))
    if (!members) return undefined
    listed.push(...members)
  }
  return { listed: new Set(listed), last, lastWorkday }
}

function parseDaysOfWeek(text: string): DaysOfWeek | undefined {
  const readWeekday = namedNumber(WEEKDAY_NAMES, WEEKDAY)
  const listed: number[] = []
  const ranked: string[] = []
  const lasts: number[] = []
  for (const element of text.split(',')) {
    const [name, rankText] = splitOnce(element, '#')
    if (rankText !== undefined) {
      const weekday = readWeekday(name)
      const rank = parseWithin(rankText, { first: 1, last: 5 })
      if (weekday === undefined || rank === undefined) return undefined
      ranked.push(rankKey(weekday % 7, rank))
    } else if (element.endsWith('L')) {
      const weekday = parseWithin(element.slice(0, -1), WEEKDAY)
      if (weekday === undefined) return undefined
      lasts.push(weekday % 7)
    } else {
      const members = parseElement(element, WEEKDAY, readWeekday)
      if (!members) return undefined
      listed.push(...members.map((weekday) => weekday % 7))
    }
  }
  return { listed: new Set(listed), ranked: new Set(ranked), lasts: new Set(lasts) }
}

function parseField(text: string, bounds: Bounds, read: ReadNumber): number[] | undefined {
  const members: number[] = []
  for (const element of text.split(',')) {
    const some = parseElement(element, bounds, read)
    if (!some) return undefined
    members.push(...some)
  }
  return sorted(members)
}

function parseElement(element: string, bounds: Bounds, read: ReadNumber): number[] | undefined {
  const [term, stepText] = splitOnce(element, '/')
  const members = parseRange(term, bounds, read)
  if (!members || stepText === undefined) return members
  const step = parseDigits(stepText)
  return step ? everyNth(members, step, bounds.last) : undefined
}

function parseRange(term: string, bounds: Bounds, read: ReadNumber): number[] | undefined {
  if (term === '*') return span(bounds.first, bounds.last)
  const [firstText, lastText] = splitOnce(term, '-')
  const first = read(firstText)
  const last = lastText === undefined ? first : read(lastText)
  return first === undefined || last === undefined || last < first ? undefined : span(first, last)
}

function namedNumber(names: readonly string[], bounds: Bounds): ReadNumber {
  return (text) => {
    const index = names.indexOf(text)
    return index < 0 ? parseWithin(text, bounds) : bounds.first + index
  }
}

/** Returns true if no month has the day, as in `0 0 30 2 *`, which is invalid even if the weekday could match. */
function isBeyondEveryMonth(days: DaysOfMonth, months: readonly number[]): boolean {
  if (days.last || days.lastWorkday) return false
  const smallest = Math.min(...days.listed)
  return months.every((month) => smallest > (MAX_DAY_OF_MONTH[month - 1] ?? 0))
}

function matchesDayOfMonth(days: DaysOfMonth, day: number, weekday: number, lastDay: number): boolean {
  if (days.listed.has(day) || (days.last && day === lastDay)) return true
  if (!days.lastWorkday || weekday === 0 || weekday === 6) return false
  // A Friday is the last workday if at most the weekend follows; another workday must be the last day.
  return weekday === 5 ? day + 2 >= lastDay : day === lastDay
}

function matchesDayOfWeek(weekdays: DaysOfWeek, day: number, weekday: number, lastDay: number): boolean {
  if (weekdays.listed.has(weekday)) return true
  if (weekdays.lasts.has(weekday) && day + 7 > lastDay) return true
  return weekdays.ranked.has(rankKey(weekday, Math.ceil(day / 7)))
}

function rankKey(weekday: number, rank: number): string {
  return `${weekday}#${rank}`
}
