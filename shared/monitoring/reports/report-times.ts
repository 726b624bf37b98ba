import { createHash } from 'node:crypto'
import { type Micros, microsOfSeconds, toDate } from '../../time.ts'
import { nextOccurrence } from '../schedules/schedule.ts'

export type ReportKind = 'off' | 'daily' | 'weekly' | 'monthly'
export type ReminderKind = 'off' | 'hourly' | 'daily'

/** What a person asked for. */
export interface ReportSettings {
  report: ReportKind
  reminder: ReminderKind
  /** IANA zone of the reader */
  tz: string
}

const HOUR: Micros = microsOfSeconds(3600)
const DAYS = { daily: '* * *', weekly: '* * 1', monthly: '1 * *' } as const

/** The minute of the day, between 9 and 11 o'clock, at which a person's reports go out: always the same one. */
export function reportMinute(userId: number): number {
  return 9 * 60 + (createHash('sha256').update(`report ${userId}`).digest().readUInt32BE() % 120)
}

/**
 * The next report after an instant: every day, on Monday, or on the 1st, at the person's minute of local time, which a
 * change of clocks keeps.
 * @returns null when reports are off
 */
export function nextReport({ report, tz }: ReportSettings, userId: number, after: Micros): Micros | null {
  if (report === 'off') return null
  const minute = reportMinute(userId)
  return nextOccurrence('cron', `${minute % 60} ${Math.floor(minute / 60)} ${DAYS[report]}`, tz, after)
}

/** The local day of an instant, `2026-11-22`. */
export function localDay(at: Micros, tz: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: tz, dateStyle: 'short' }).format(toDate(at))
}

/** The local midnight before which a report's period ends, and the one at which it begins. */
export function reportPeriod(
  report: Exclude<ReportKind, 'off'>,
  at: Micros,
  tz: string,
): { from: Micros; until: Micros; name: string } {
  const until = lastMidnight(at, tz, '* * *')
  const from = lastMidnight(until - 1, tz, report === 'daily' ? '* * *' : report === 'weekly' ? '* * 1' : '1 * *')
  return { from, until, name: `${report} ${localDay(until - 1, tz)}` }
}

/** The latest midnight, of days that a cron expression names, that is not after an instant. */
function lastMidnight(at: Micros, tz: string, days: string): Micros {
  let found = at
  // A month with a change of clocks is no longer than this.
  let after = at - 33 * 24 * HOUR
  for (;;) {
    const next = nextOccurrence('cron', `0 0 ${days}`, tz, after)
    if (next === null || next > at) return found
    found = next
    after = next
  }
}

/** How long after a reminder the next one comes. */
export function reminderInterval(reminder: Exclude<ReminderKind, 'off'>): Micros {
  return reminder === 'hourly' ? HOUR : 24 * HOUR
}
