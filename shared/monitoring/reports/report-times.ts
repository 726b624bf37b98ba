import { createHash } from 'node:crypto'
import { type Micros, microsOfSeconds, toDate } from '../../time.ts'
import { nextOccurrence } from '../schedules/schedule.ts'

export type ReportKind = 'off' | 'daily' | 'weekly' | 'monthly'
export type ReminderKind = 'off' | 'hourly' | 'daily'

export interface ReportSettings {
  report: ReportKind
  reminder: ReminderKind
  tz: string
}

const HOUR: Micros = microsOfSeconds(3600)
const DAYS = { daily: '* * *', weekly: '* * 1', monthly: '1 * *' } as const

/** Between 9 and 11 o'clock, derived from the id to spread the load. */
export function reportMinute(userId: number): number {
  return 9 * 60 + (createHash('sha256').update(`report ${userId}`).digest().readUInt32BE() % 120)
}

/** At the person's minute of local time: every day, on Monday, or on the 1st. Returns null if reports are off. */
export function nextReport({ report, tz }: ReportSettings, userId: number, after: Micros): Micros | null {
  if (report === 'off') return null
  const minute = reportMinute(userId)
  return nextOccurrence('cron', `${minute % 60} ${Math.floor(minute / 60)} ${DAYS[report]}`, tz, after)
}

/** `2026-11-22` */
export function localDay(at: Micros, tz: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: tz, dateStyle: 'short' }).format(toDate(at))
}

export function reportPeriod(
  report: Exclude<ReportKind, 'off'>,
  at: Micros,
  tz: string,
): { from: Micros; until: Micros; name: string } {
  const until = lastMidnight(at, tz, '* * *')
  const from = lastMidnight(until - 1, tz, report === 'daily' ? '* * *' : report === 'weekly' ? '* * 1' : '1 * *')
  return { from, until, name: `${report} ${localDay(until - 1, tz)}` }
}

function lastMidnight(at: Micros, tz: string, days: string): Micros {
  let found = at
  // Longer than every month, including clock changes.
  let after = at - 33 * 24 * HOUR
  for (;;) {
    const next = nextOccurrence('cron', `0 0 ${days}`, tz, after)
    if (next === null || next > at) return found
    found = next
    after = next
  }
}

export function reminderInterval(reminder: Exclude<ReminderKind, 'off'>): Micros {
  return reminder === 'hourly' ? HOUR : 24 * HOUR
}
