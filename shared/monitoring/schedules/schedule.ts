import { LRUCache } from 'lru-cache'
import { type Micros, microsOfSeconds, toSeconds } from '../../time.ts'
import { CRON_HORIZON_YEARS, parseCron } from './cron.ts'
import { nextInRealTime, nextInWallTime, wallYearAt } from './occurrences.ts'
import { ON_CALENDAR_LAST_YEAR, parseOnCalendar } from './on-calendar.ts'
import type { WallPattern } from './wall-pattern.ts'
import { type UnixSeconds, type ZoneClock, zoneClock } from './zone-clock.ts'

export type ScheduleKind = 'cron' | 'oncalendar'

/** Without `zone`, the zone of the check applies. */
type Line = {
  readonly text: string
  readonly pattern: WallPattern
  readonly zone: string | undefined
  readonly mode: 'real' | 'moved' | 'skipped'
  isFar: boolean
}

/** Every search that starts in [from, found) has this result; undefined means none up to `lastYear`. */
type FarResult = { readonly from: UnixSeconds; readonly lastYear: number; readonly found: UnixSeconds | undefined }

const UTC = 'UTC'
const MAX_LENGTH = 1000
/** 2000-01-01T00:00:00Z. A valid schedule must have an occurrence after it. */
const VALID_SINCE: UnixSeconds = 946_684_800

const parsedCrons = new LRUCache<string, readonly Line[]>({ max: 2000 })
const parsedOnCalendars = new LRUCache<string, readonly Line[]>({ max: 2000 })

/** Longer searches are expensive, so their results are cached. */
const FAR_SECONDS = 2 * 366 * 86_400
const farResults = new LRUCache<string, FarResult>({ max: 10_000 })

/** Returns `cron` for one line of exactly five parts; does not validate (docs/spec/monitoring.md#schedule-kind). */
export function guessKind(expression: string): ScheduleKind {
  const text = expression.trim()
  return !text.includes('\n') && text.split(/\s+/, 6).length === 5 ? 'cron' : 'oncalendar'
}

/** Returns true if a schedule is valid and occurs after 2000 (docs/spec/monitoring.md#schedule-kind). Never throws. */
export function isValidSchedule(expression: string, tz = UTC): boolean {
  if (expression.length > MAX_LENGTH) return false
  return next(parse(guessKind(expression), expression), tz, VALID_SINCE) !== undefined
}

/**
 * Returns the first occurrence after an instant, which it truncates to whole seconds. A zone inside an OnCalendar line
 * has precedence over `tz`. Returns null if there is no occurrence within 50 years (cron) or before 2200 (OnCalendar),
 * and for an invalid expression or zone. Never throws.
 */
export function nextOccurrence(kind: ScheduleKind, expression: string, tz: string, after: Micros): Micros | null {
  const found = next(parsedOnce(kind, expression), tz, Math.floor(toSeconds(after)))
  return found === undefined ? null : microsOfSeconds(found)
}

function parsedOnce(kind: ScheduleKind, expression: string): readonly Line[] {
  const cache = kind === 'cron' ? parsedCrons : parsedOnCalendars
  const known = cache.get(expression)
  if (known) return known
  const parsed = parse(kind, expression)
  cache.set(expression, parsed)
  return parsed
}

function parse(kind: ScheduleKind, expression: string): readonly Line[] {
  if (expression.length > MAX_LENGTH) return []
  if (kind === 'oncalendar')
    return (parseOnCalendar(expression) ?? []).map((line) => ({ ...line, mode: 'skipped', isFar: false }))
  const cron = parseCron(expression)
  if (!cron) return []
  const mode = cron.walksRealTime ? 'real' : 'moved'
  return [{ text: expression, pattern: cron.pattern, zone: undefined, mode, isFar: false }]
}

function next(lines: readonly Line[], tz: string, after: UnixSeconds): UnixSeconds | undefined {
  let earliest: UnixSeconds | undefined
  for (const line of lines) {
    const { zone = tz } = line
    const clock = zone === UTC ? undefined : zoneClock(zone)
    if (zone !== UTC && !clock) continue
    const found = nextOfLine(line, zone, clock, after)
    if (found !== undefined && (earliest === undefined || found < earliest)) earliest = found
  }
  return earliest
}

function nextOfLine(line: Line, zone: string, clock: ZoneClock | undefined, after: UnixSeconds) {
  const { pattern, mode } = line
  const lastYear = mode === 'skipped' ? ON_CALENDAR_LAST_YEAR : wallYearAt(clock, after + 60) + CRON_HORIZON_YEARS
  const known = line.isFar ? farResults.get(farKey(line, zone)) : undefined
  if (known && holdsFor(known, after, lastYear)) return known.found
  const found =
    mode === 'real'
      ? nextInRealTime({ pattern, clock }, after, lastYear)
      : nextInWallTime({ pattern, clock }, after, lastYear, mode)
  if (found === undefined || found - after > FAR_SECONDS) {
    line.isFar = true
    farResults.set(farKey(line, zone), { from: after, lastYear, found })
  }
  return found
}

function holdsFor({ from, lastYear, found }: FarResult, after: UnixSeconds, wantedLastYear: number): boolean {
  return after >= from && (found === undefined ? wantedLastYear <= lastYear : after < found)
}

function farKey({ mode, text }: Line, zone: string): string {
  return `${mode} ${zone} ${text}`
}
