import { type MailSection, renderMail, unsubscribeHeaders } from '../../delivery/mail-frame.ts'
import type { WrittenMail } from '../../tenancy/mails/mail.ts'
import type { Micros } from '../../time.ts'
import { nameOf } from '../checks/slug.ts'
import { formatDuration, formatInstant, oneLine } from '../notifications/text-parts.ts'
import type { DownCheck, ProjectReport } from './report.ts'
import { localDay, type ReminderKind, type ReportKind } from './report-times.ts'

export interface Addressed {
  to: string
  tz: string
  unsubscribe: string
  publicUrl: string
  siteName: string
}

export function reportMail(
  kind: Exclude<ReportKind, 'off'>,
  period: { from: Micros; until: Micros },
  projects: readonly ProjectReport[],
  addressed: Addressed,
): WrittenMail {
  const { tz } = addressed
  const [first, last] = [localDay(period.from, tz), localDay(period.until - 1, tz)]
  const days = first === last ? first : `${first} to ${last}`
  const sections = projects.flatMap((project) => projectSections(project, addressed.publicUrl))
  return writtenMail(
    `Your ${kind} report, ${days}`,
    'neutral',
    [{ kind: 'text', text: `${days}, times in ${tz}` }, ...sections],
    addressed,
  )
}

function projectSections(project: ProjectReport, publicUrl: string): MailSection[] {
  const named = (check: { uuid: string; name: string }) => ({
    text: oneLine(nameOf(check)),
    url: `${publicUrl}/checks/${check.uuid}`,
  })
  const facts = [
    { label: 'Project', value: oneLine(project.name) },
    { label: 'Uptime', value: uptimeText(project) },
    { label: 'Downtime', value: formatDuration(project.down) },
    { label: 'Outage on our side', value: project.unknown > 0 ? formatDuration(project.unknown) : '' },
    { label: 'Incidents', value: String(project.incidents) },
    { label: 'Messages not delivered', value: project.unreached > 0 ? String(project.unreached) : '' },
  ]
  const worst = project.worst.map((check) => {
    const { text, url } = named(check)
    return { text: `${text}: down ${formatDuration(check.down)}`, url }
  })
  return [
    { kind: 'facts', facts: facts.filter(({ value }) => value !== '') },
    { kind: 'list', title: 'Most downtime', lines: worst },
    { kind: 'list', title: 'Without a ping for 30 days', lines: project.silent.map(named) },
    { kind: 'buttons', buttons: [{ label: 'Open the project', url: `${publicUrl}/projects/${project.uuid}/checks` }] },
  ]
}

/** Percent of the known time. Never rounded up, so 100 % means no downtime. */
export function uptimeText({ up, down }: Pick<ProjectReport, 'up' | 'down'>): string {
  if (up + down === 0) return 'unknown'
  return `${(Math.floor((up / (up + down)) * 100_000) / 1000).toFixed(3)} %`
}

export function reminderMail(
  kind: Exclude<ReminderKind, 'off'>,
  checks: readonly DownCheck[],
  addressed: Addressed,
): WrittenMail {
  const lines = checks.map((check) => ({
    text: `${oneLine(nameOf(check))} (${oneLine(check.projectName)}): down since ${formatInstant(check.downAt, addressed.tz)}`,
    url: `${addressed.publicUrl}/checks/${check.uuid}`,
  }))
  return writtenMail(
    `Reminder: ${checks.length} ${checks.length === 1 ? 'check is' : 'checks are'} still down`,
    'down',
    [
      { kind: 'list', title: '', lines },
      { kind: 'text', text: `You get this reminder ${kind} while checks are down.`, isSmall: true },
    ],
    addressed,
  )
}

export function limitMail(
  limit: { what: string; projectName: string; projectUuid: string },
  addressed: Omit<Addressed, 'unsubscribe'>,
): WrittenMail {
  const name = oneLine(limit.projectName)
  const text = `${limit.what}: no more are sent for the project "${name}" before the next month (UTC). Other integrations still notify.`
  const url = `${addressed.publicUrl}/projects/${limit.projectUuid}/integrations`
  return writtenMail(
    `${limit.what} of the project "${name}"`,
    'neutral',
    [
      { kind: 'text', text },
      { kind: 'buttons', buttons: [{ label: 'Open the integrations', url }] },
    ],
    addressed,
  )
}

export function writtenMail(
  subject: string,
  tone: 'down' | 'neutral',
  sections: readonly MailSection[],
  { to, siteName, unsubscribe = null }: { to: string; siteName: string; unsubscribe?: string | null },
): WrittenMail {
  const headline = oneLine(subject)
  return {
    to,
    subject: headline,
    ...renderMail({ siteName, headline, tone, sections, unsubscribe }),
    headers: unsubscribeHeaders(unsubscribe),
  }
}
