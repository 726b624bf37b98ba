import { type Bounds, everyNth, parseDigits, parseWithin, sorted, span, splitOnce } from './number-list.ts'
import { isZoneName } from './time-zones.ts'
import { type WallPattern, wallPattern } from './wall-pattern.ts'

/** Without `zone`, the zone of the check applies. */
export type OnCalendarLine = {
  readonly text: string
  readonly pattern: WallPattern
  readonly zone: string | undefined
}

export const ON_CALENDAR_LAST_YEAR = 2199

const YEAR: Bounds = { first: 1970, last: ON_CALENDAR_LAST_YEAR }
const MONTH: Bounds = { first: 1, last: 12 }
const DAY: Bounds = { first: 1, last: 31 }
const DAY_FROM_END: Bounds = { first: 1, last: 28 }
const HOUR: Bounds = { first: 0, last: 23 }
const MINUTE: Bounds = { first: 0, last: 59 }
/** Ranges of weekdays must not wrap from Sunday to Monday. */
const WEEKDAY_NAMES = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const SPECIAL_WORDS = new Map([
  ['minutely', '*:*'],
  ['hourly', '*:00'],
  ['daily', '00:00'],
  ['weekly', 'Mon 00:00'],
  ['monthly', '*-01 00:00'],
  ['quarterly', '01,04,07,10-01 00:00'],
  ['semiannually', '01,07-01 00:00'],
  ['yearly', '01-01 00:00'],
  ['annually', '01-01 00:00'],
])

type ClockTimes = { hours: number[]; minutes: number[]; seconds: number[] }
/** `fromEnd` counts days from the end of the month; the last day is 1. */
type CalendarDays = { years: number[] | undefined; months: number[]; days: number[]; fromEnd: number[] }

const MIDNIGHT: ClockTimes = { hours: [0], minutes: [0], seconds: [0] }
const EVERY_DAY: CalendarDays = { years: undefined, months: span(1, 12), days: span(1, 31), fromEnd: [] }

/**
 * Returns undefined if a line is invalid. A valid expression may still match no time
 * (docs/spec/monitoring.md#oncalendar).
 */
export function parseOnCalendar(expression: string): OnCalendarLine[] | undefined {
  const lines: OnCalendarLine[] = []
  const texts = expression.trim().split('\n')
  for (const text of new Set(texts.map((each) => each.trim()))) {
    const line = parseLine(text)
    if (!line) return undefined
    lines.push(line)
  }
  return lines
}

function parseLine(text: string): OnCalendarLine | undefined {
  const parts = text.split(/\s+/)
  const last = parts.at(-1) ?? ''
  const zone = text.includes(' ') && isZoneName(last) ? last : undefined
  if (zone !== undefined) parts.pop()
  const pattern = parsePattern(SPECIAL_WORDS.get(parts.join(' ').toLowerCase())?.split(' ') ?? parts)
  return pattern && { text, pattern, zone }
}

/** Weekdays, date and time are each optional, but one of them is required. */
function parsePattern(parts: readonly string[]): WallPattern | undefined {
  const left = parts.filter((part) => part !== '')
  if (left.length === 0) return undefined
  const timeText = left.at(-1)?.includes(':') ? left.pop() : undefined
  const dateText = /^[0-9*].*[-~]/.test(left.at(-1) ?? '') ? left.pop() : undefined
  const weekdayText = left.pop()
  if (left.length > 0) return undefined

  const times = timeText === undefined ? MIDNIGHT : parseTime(timeText)
  const dates = dateText === undefined ? EVERY_DAY : parseDate(dateText)
  const weekdays = weekdayText === undefined ? span(0, 6) : parseWeekdays(weekdayText)
  if (!times || !dates || !weekdays) return undefined

  const days = new Set(dates.days)
  const fromEnd = new Set(dates.fromEnd)
  const weekdaySet = new Set(weekdays)
  return wallPattern({
    ...times,
    months: new Set(dates.months),
    years: dates.years,
    matchesDay: (day, weekday, lastDay) => weekdaySet.has(weekday) && (days.has(day) || fromEnd.has(lastDay - day + 1)),
  })
}

function parseTime(text: string): ClockTimes | undefined {
  const [hourText, minuteText, secondText = '0', ...rest] = text.split(':')
  if (hourText === undefined || minuteText === undefined || rest.length > 0) return undefined
  const hours = parseNumbers(hourText, HOUR)
  const minutes = parseNumbers(minuteText, MINUTE)
  const seconds = parseNumbers(secondText, MINUTE)
  return hours && minutes && seconds && { hours, minutes, seconds }
}

function parseDate(text: string): CalendarDays | undefined {
  const [front, fromEndText, ...rest] = text.split('~')
  if (front === undefined || rest.length > 0) return undefined
  const parts = front.split('-')
  const dayText = fromEndText === undefined ? parts.pop() : undefined
  const monthText = parts.pop()
  const yearText = parts.pop() ?? '*'
  if (monthText === undefined || parts.length > 0) return undefined

  const years = yearText === '*' ? undefined : parseNumbers(yearText, YEAR, readYear)
  const months = parseNumbers(monthText, MONTH)
  const days = dayText === undefined ? [] : parseNumbers(dayText, DAY)
  const fromEnd = fromEndText === undefined ? [] : parseDaysFromEnd(fromEndText)
  if ((yearText !== '*' && !years) || !months || !days || !fromEnd) return undefined
  return { years, months, days, fromEnd }
}

/** `~7/1` counts towards the last day: 7, 6, 5 and so on. */
function parseDaysFromEnd(text: string): number[] | undefined {
  if (text === '*') return span(DAY.first, DAY.last)
  const mirrored = (day: string) => negated(parseWithin(day, DAY_FROM_END))
  const members: number[] = []
  for (const element of text.split(',')) {
    const [term, stepText] = splitOnce(element, '/')
    const [a, b] = splitOnce(term, '..')
    // Members are negative, so a range begins with its second number.
    const some = parseRangeOf(b ?? a, b === undefined ? undefined : a, stepText, -1, mirrored)
    if (!some) return undefined
    members.push(...some)
  }
  return sorted(members.map((day) => -day))
}

function parseNumbers(
  text: string,
  bounds: Bounds,
  read: (text: string) => number | undefined = (value) => parseWithin(value, bounds),
): number[] | undefined {
  if (text === '*') return span(bounds.first, bounds.last)
  const members: number[] = []
  for (const element of text.split(',')) {
    const [term, stepText] = splitOnce(element, '/')
    const [a, b] = splitOnce(term, '..')
    const some = parseRangeOf(a, b, stepText, bounds.last, read)
    if (!some) return undefined
    members.push(...some)
  }
  return sorted(members)
}

function parseRangeOf(
  firstText: string,
  lastText: string | undefined,
  stepText: string | undefined,
  top: number,
  read: (text: string) => number | undefined,
): number[] | undefined {
  const first = read(firstText)
  const last = lastText === undefined ? first : read(lastText)
  if (first === undefined || last === undefined || last < first) return undefined
  if (stepText === undefined) return span(first, last)
  const step = parseDigits(stepText)
  return step ? everyNth(span(first, last), step, top) : undefined
}

/** 0-69 means 2000-2069, and 70-99 means 1970-1999. */
function readYear(text: string): number | undefined {
  const value = parseDigits(text)
  if (value === undefined) return undefined
  return parseWithin(String(value < 70 ? value + 2000 : value < 100 ? value + 1900 : value), YEAR)
}

function parseWeekdays(text: string): number[] | undefined {
  const members: number[] = []
  for (const element of text.replace(/,$/, '').replaceAll('-', '..').split(',')) {
    const [a, b] = splitOnce(element, '..')
    const some = parseRangeOf(a, b, undefined, 6, readWeekday)
    if (!some) return undefined
    members.push(...some.map((fromMonday) => (fromMonday + 1) % 7))
  }
  return sorted(members)
}

function readWeekday(text: string): number | undefined {
  const name = text.toLowerCase()
  const index = WEEKDAY_NAMES.findIndex((full) => name === full || name === full.slice(0, 3))
  return index < 0 ? undefined : index
}

function negated(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value
}
