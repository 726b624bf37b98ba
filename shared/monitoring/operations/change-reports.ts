import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Micros } from '../../time.ts'
import { findReportSettings, saveReportSettings } from '../reports/report-store.ts'
import { nextReport, type ReportSettings } from '../reports/report-times.ts'
import { isZoneName } from '../schedules/time-zones.ts'

const REPORTS: readonly string[] = ['off', 'daily', 'weekly', 'monthly']
const REMINDERS: readonly string[] = ['off', 'hourly', 'daily']

/** Changes which reports and reminders a person gets. @throws ValidationError for what is none, and for no time zone */
export async function changeReports(
  db: Knex,
  userId: number,
  wanted: { report: string; reminder: string; tz: string },
  now: Micros,
): Promise<void> {
  if (!isReport(wanted.report)) throw new ValidationError('There is no such report.')
  if (!isReminder(wanted.reminder)) throw new ValidationError('There is no such reminder.')
  if (!isZoneName(wanted.tz)) throw new ValidationError('That is not a time zone.')
  const settings = { report: wanted.report, reminder: wanted.reminder, tz: wanted.tz }
  await saveReportSettings(db, userId, settings, nextReport(settings, userId, now))
}

/** Ends one kind of mail, by the link in it; what else the person asked for goes on. */
export async function endReports(db: Knex, userId: number, kind: 'report' | 'reminder', now: Micros): Promise<void> {
  await transaction(db, async (tx) => {
    const settings: ReportSettings = { ...(await findReportSettings(tx, userId)), [kind]: 'off' }
    await saveReportSettings(tx, userId, settings, nextReport(settings, userId, now))
  })
}

function isReport(value: string): value is ReportSettings['report'] {
  return REPORTS.includes(value)
}

function isReminder(value: string): value is ReportSettings['reminder'] {
  return REMINDERS.includes(value)
}
