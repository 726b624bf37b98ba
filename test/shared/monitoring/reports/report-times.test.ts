import test from 'ava'
import { uptimeText } from '#shared/monitoring/reports/report-mail.ts'
import { localDay, nextReport, reportMinute, reportPeriod } from '#shared/monitoring/reports/report-times.ts'

const micros = (iso: string) => Date.parse(iso) * 1000
const local = (at: number | null, tz: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: tz, weekday: 'short', hour: '2-digit', minute: '2-digit' }).format(
    (at ?? 0) / 1000,
  )

test('each person has a fixed report minute between 9 and 11 o’clock', (t) => {
  const minutes = Array.from({ length: 500 }, (_, userId) => reportMinute(userId))
  t.true(minutes.every((minute) => minute >= 540 && minute < 660))
  t.is(reportMinute(7), reportMinute(7))
  t.true(new Set(minutes).size > 100)
})

for (const [tz, change] of [
  ['Europe/Riga', '2026-03-29'],
  ['Europe/Riga', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
] as const) {
  test(`a clock change (${change} in ${tz}) does not move Monday's report`, (t) => {
    const settings = { report: 'weekly', reminder: 'off', tz } as const
    const before = nextReport(settings, 7, micros(`${change}T12:00:00Z`) - 9 * 86_400_000_000)
    const after = nextReport(settings, 7, before ?? 0)
    t.is(local(after, tz), local(before, tz))
    t.regex(local(after, tz), /^Mon /)
    t.not((after ?? 0) - (before ?? 0), 7 * 86_400_000_000)
  })
}

test('schedules reports daily, on Monday, on the 1st, or never', (t) => {
  const now = micros('2026-11-22T12:00:00Z')
  const on = (report: 'off' | 'daily' | 'weekly' | 'monthly') => {
    const next = nextReport({ report, reminder: 'off', tz: 'UTC' }, 7, now)
    return next === null ? null : localDay(next, 'UTC')
  }
  t.deepEqual([on('daily'), on('weekly'), on('monthly'), on('off')], ['2026-11-23', '2026-11-23', '2026-12-01', null])
})

test('a report covers whole local days, even of 23 or 25 hours', (t) => {
  const hours = (at: string) => {
    const { from, until } = reportPeriod('daily', micros(at), 'Europe/Riga')
    return (until - from) / 3_600_000_000
  }
  t.deepEqual(
    [hours('2026-03-30T08:00:00Z'), hours('2026-10-26T08:00:00Z'), hours('2026-11-22T08:00:00Z')],
    [23, 25, 24],
  )
  const month = reportPeriod('monthly', micros('2026-11-01T09:00:00Z'), 'UTC')
  t.deepEqual([month.from, month.until], [micros('2026-10-01T00:00:00Z'), micros('2026-11-01T00:00:00Z')])
  const week = reportPeriod('weekly', micros('2026-11-23T09:00:00Z'), 'UTC')
  t.deepEqual([week.from, week.until], [micros('2026-11-16T00:00:00Z'), micros('2026-11-23T00:00:00Z')])
})

test('uptime excludes unknown time and is never rounded up', (t) => {
  t.is(uptimeText({ up: 99_999_999, down: 1 }), '99.999 %')
  t.is(uptimeText({ up: 5, down: 0 }), '100.000 %')
  t.is(uptimeText({ up: 0, down: 0 }), 'unknown')
})
