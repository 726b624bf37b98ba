import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { runYielding } from '../../platform/process/time-slices.ts'
import { queueWrittenMail } from '../../tenancy/operations/link-mails.ts'
import { type Micros, toIsoMillis } from '../../time.ts'
import { splitTags } from '../checks/tags.ts'
import { openWindows, windowNow } from '../maintenance/spans.ts'
import { windowsOf } from '../maintenance/window-store.ts'
import { listProjectsOf } from '../projects/member-store.ts'
import type { DownCheck } from '../reports/report.ts'
import { type Addressed, limitMail, reminderMail, reportMail } from '../reports/report-mail.ts'
import {
  claimMailOf,
  type DuePerson,
  downChecksOf,
  findManagers,
  findReportSettings,
  lockDuePerson,
  projectReports,
  saveReportSettings,
  setReminderAt,
  setReportAt,
} from '../reports/report-store.ts'
import { nextReport, type ReportSettings, reminderInterval, reportPeriod } from '../reports/report-times.ts'
import { signedOfUnsubscribe, unsubscribePath } from '../reports/unsubscribe-link.ts'
import { isZoneName } from '../schedules/time-zones.ts'

const REPORTS: readonly string[] = ['off', 'daily', 'weekly', 'monthly']
const REMINDERS: readonly string[] = ['off', 'hourly', 'daily']

/** @throws ValidationError for an unknown report, reminder or time zone */
export async function changeReports(
  db: Knex,
  userId: number,
  wanted: { report: string; reminder: string; tz: string },
  now: Micros,
): Promise<void> {
  if (!isReport(wanted.report)) throw new ValidationError(`The report must be one of: ${REPORTS.join(', ')}.`)
  if (!isReminder(wanted.reminder)) throw new ValidationError(`The reminder must be one of: ${REMINDERS.join(', ')}.`)
  if (!isZoneName(wanted.tz)) throw new ValidationError('The time zone is not known.')
  const settings = { report: wanted.report, reminder: wanted.reminder, tz: wanted.tz }
  await saveReportSettings(db, userId, settings, nextReport(settings, userId, now))
}

/** The unsubscribe link ends one kind of mail; the other kind stays. */
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

interface MailDeps {
  config: Pick<Config, 'publicUrl' | 'siteName'>
  secrets: Secrets
}

/** One transaction: no report is sent twice, and a crash loses none. Returns false if no report is due. */
export async function sendNextReport(tx: Knex, enqueue: Enqueue, deps: MailDeps, now: Micros): Promise<boolean> {
  const person = await lockDuePerson(tx, 'report_at', now)
  if (!person) return false
  if (person.report !== 'off') {
    const period = reportPeriod(person.report, person.dueAt, person.tz)
    const id = randomUUID()
    if (await claimMailOf(tx, { id, userId: person.userId, kind: 'report', period: period.name })) {
      const projects = (await listProjectsOf(tx, person.userId)).map(({ id: projectId }) => projectId)
      const reports = projects.length === 0 ? [] : await projectReports(tx, projects, period)
      const mail = reportMail(person.report, period, reports, addressedTo(person, 'report', deps))
      if (reports.length > 0) await queueWrittenMail(tx, enqueue, deps, { id, ...mail })
    }
  }
  await setReportAt(tx, person.userId, nextReport(person, person.userId, now))
  return true
}

/** Sends only if a check is down. Returns false if no reminder is due. */
export async function sendNextReminder(tx: Knex, enqueue: Enqueue, deps: MailDeps, now: Micros): Promise<boolean> {
  const person = await lockDuePerson(tx, 'reminder_at', now)
  if (!person) return false
  const projects = (await listProjectsOf(tx, person.userId)).map(({ id }) => id)
  const down = projects.length === 0 ? [] : await downChecksOf(tx, projects)
  const isOver = person.reminder === 'off' || down.length === 0
  const named = isOver ? [] : await outsideWindows(tx, down, now)
  const id = randomUUID()
  const period = toIsoMillis(person.dueAt)
  if (
    person.reminder !== 'off' &&
    named.length > 0 &&
    (await claimMailOf(tx, { id, userId: person.userId, kind: 'reminder', period }))
  ) {
    const mail = reminderMail(person.reminder, named, addressedTo(person, 'reminder', deps))
    await queueWrittenMail(tx, enqueue, deps, { id, ...mail })
  }
  await setReminderAt(
    tx,
    person.userId,
    person.reminder === 'off' || isOver ? null : now + reminderInterval(person.reminder),
  )
  return true
}

async function outsideWindows(tx: Knex, down: readonly DownCheck[], now: Micros): Promise<DownCheck[]> {
  const windows = await windowsOf(tx, [...new Set(down.map(({ projectId }) => projectId))])
  const open = Map.groupBy(await runYielding(openWindows(windows, now)), ({ window }) => window.projectId)
  return down.filter(
    ({ projectId, uuid, tags }) => windowNow(open.get(projectId) ?? [], { uuid, tags: splitTags(tags) }) === null,
  )
}

interface ReachedLimit {
  organisationId: number
  projectId: number
  projectUuid: string
  projectName: string
  meter: string
  what: string
  month: Micros
}

/** At most once a month for all projects of the organisation. */
export async function noteMonthlyLimit(tx: Knex, enqueue: Enqueue, deps: MailDeps, limit: ReachedLimit): Promise<void> {
  const period = `${toIsoMillis(limit.month).slice(0, 7)} account ${limit.organisationId} ${limit.meter}`
  for (const { userId, email } of await findManagers(tx, limit.projectId)) {
    const id = randomUUID()
    if (!(await claimMailOf(tx, { id, userId, kind: 'limit', period }))) continue
    const { publicUrl, siteName } = deps.config
    const mail = limitMail(limit, { to: email, tz: 'UTC', publicUrl, siteName })
    await queueWrittenMail(tx, enqueue, deps, { id, ...mail })
  }
}

function addressedTo(
  { email, uuid, tz }: DuePerson,
  kind: 'report' | 'reminder',
  { config, secrets }: MailDeps,
): Addressed {
  const path = unsubscribePath(uuid, kind, secrets.digest(signedOfUnsubscribe(uuid, kind)))
  return {
    to: email,
    tz,
    unsubscribe: config.publicUrl + path,
    publicUrl: config.publicUrl,
    siteName: config.siteName,
  }
}
