import { LRUCache } from 'lru-cache'
import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import { CRON_HORIZON_YEARS, type CronSchedule, parseCron } from './cron.ts'
import { nextInRealTime, nextInWallTime, wallYearAt } from './occurrences.ts'
import { ON_CALENDAR_LAST_YEAR, type OnCalendarLine, parseOnCalendar } from './on-calendar.ts'
import { type UnixSeconds, zoneClock } from './zone-clock.ts'

export type ScheduleKind = 'cron' | 'oncalendar'

type Parsed = { cron: CronSchedule | undefined; lines: readonly OnCalendarLine[] }

const UTC = 'UTC'
/** Ten times what a check may store: a text beyond it is not worth reading. */
const MAX_LENGTH = 1000
/** A schedule must have an occurrence after this instant, 2000-01-01T00:00:00Z, to be valid (7.1). */
const VALID_SINCE: UnixSeconds = 946_684_800

const parsedCrons = new LRUCache<string, Parsed>({ max: 2000 })
const parsedOnCalendars = new LRUCache<string, Parsed>({ max: 2000 })

/** Cron is one line of exactly five parts, everything else OnCalendar; neither need be valid (monitoring behaviour 7.1). */
export function guessKind(expression: string): ScheduleKind {
  const text = expression.trim()
  return !text.includes('\n') && text.split(/\s+/, 6).length === 5 ? 'cron' : 'oncalendar'
}

/**
 * Whether a check may have this schedule: it parses as the kind it looks like and has an occurrence after the year 2000
 * began (monitoring behaviour 7.1). Safe for texts of any length and content.
 */
export function isValidSchedule(expression: string): boolean {
  if (expression.length > MAX_LENGTH) return false
  return next(parse(guessKind(expression), expression), UTC, VALID_SINCE) !== undefined
}

/**
 * The first occurrence strictly after an instant, whose fraction of a second is dropped first (monitoring behaviour
 * 7.2, 7.3). `tz` is a stored zone name; a zone inside an OnCalendar line goes before it.
 * @returns null when there is none any more, within 50 years (cron) or before 2200 (OnCalendar), and also when this
 * runtime cannot read the expression or the zone; never throws
 */
export function nextOccurrence(kind: ScheduleKind, expression: string, tz: string, after: Micros): Micros | null {
  const found = next(parsedOnce(kind, expression), tz, Math.floor(toSeconds(after)))
  return found === undefined ? null : microsOfSeconds(found)
}

function parsedOnce(kind: ScheduleKind, expression: string): Parsed {
  const cache = kind === 'cron' ? parsedCrons : parsedOnCalendars
  const known = cache.get(expression)
  if (known) return known
  const parsed = parse(kind, expression)
  cache.set(expression, parsed)
  return parsed
}

function parse(kind: ScheduleKind, expression: string): Parsed {
  if (expression.length > MAX_LENGTH) return { cron: undefined, lines: [] }
  return kind === 'cron'
    ? { cron: parseCron(expression), lines: [] }
    : { cron: undefined, lines: parseOnCalendar(expression) ?? [] }
}

function next({ cron, lines }: Parsed, tz: string, after: UnixSeconds): UnixSeconds | undefined {
  return cron ? nextOfCron(cron, tz, after) : nextOfLines(lines, tz, after)
}

function nextOfCron({ pattern, walksRealTime }: CronSchedule, tz: string, after: UnixSeconds): UnixSeconds | undefined {
  const clock = tz === UTC ? undefined : zoneClock(tz)
  if (tz !== UTC && !clock) return undefined
  const lastYear = wallYearAt(clock, after + 60) + CRON_HORIZON_YEARS
  return walksRealTime
    ? nextInRealTime({ pattern, clock }, after, lastYear)
    : nextInWallTime({ pattern, clock }, after, lastYear, 'moved')
}

/** Lines are merged: the earliest occurrence of any, equal ones once; a line that has run out says nothing. */
function nextOfLines(lines: readonly OnCalendarLine[], tz: string, after: UnixSeconds): UnixSeconds | undefined {
  let earliest: UnixSeconds | undefined
  for (const { pattern, zone = tz } of lines) {
    const clock = zone === UTC ? undefined : zoneClock(zone)
    if (zone !== UTC && !clock) continue
    const found = nextInWallTime({ pattern, clock }, after, ON_CALENDAR_LAST_YEAR, 'skipped')
    if (found !== undefined && (earliest === undefined || found < earliest)) earliest = found
  }
  return earliest
}
