import type { WrittenMail } from '../../tenancy/mails/mail.ts'
import type { Micros } from '../../time.ts'
import { nameOf } from '../checks/slug.ts'
import { formatInstant } from '../notifications/message.ts'
import { escapeHtml, formatDuration, oneLine } from '../notifications/text-parts.ts'
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
  const sections = projects.map((project) => sectionOf(project, addressed.publicUrl))
  return written(`Your ${kind} report, ${days}`, [`${days}, times in ${tz}`, ...sections], addressed)
}

function sectionOf(project: ProjectReport, publicUrl: string): string {
  const lines = [
    oneLine(project.name),
    `Uptime: ${uptimeText(project)}`,
    `Downtime: ${formatDuration(project.down)}`,
    project.unknown > 0 && `Unknown: ${formatDuration(project.unknown)}`,
    `Incidents: ${project.incidents}`,
    ...project.worst.map((check) => `- ${oneLine(nameOf(check))}: down ${formatDuration(check.down)}`),
    project.silent.length > 0 &&
      `Silent for 30 days: ${project.silent.map((check) => oneLine(nameOf(check))).join(', ')}`,
    project.unreached > 0 && `Messages that could not be delivered: ${project.unreached}`,
    `${publicUrl}/projects/${project.uuid}/checks`,
  ]
  return lines.filter((line) => line !== false).join('\n')
}

/** Returns the uptime in percent of the known time. It is never rounded up, so 100 % means no downtime. */
export function uptimeText({ up, down }: Pick<ProjectReport, 'up' | 'down'>): string {
  if (up + down === 0) return 'unknown'
  return `${(Math.floor((up / (up + down)) * 100_000) / 1000).toFixed(3)} %`
}

export function reminderMail(
  kind: Exclude<ReminderKind, 'off'>,
  checks: readonly DownCheck[],
  addressed: Addressed,
): WrittenMail {
  const lines = checks.map(
    (check) =>
      `${oneLine(nameOf(check))} (${oneLine(check.projectName)}): down since ${formatInstant(check.downAt, addressed.tz)}\n${addressed.publicUrl}/checks/${check.uuid}`,
  )
  const subject = `Reminder: ${checks.length} ${checks.length === 1 ? 'check is' : 'checks are'} still down`
  return written(subject, [`You get this reminder ${kind} while checks are down.`, ...lines], addressed)
}

export function limitMail(
  limit: { what: string; projectName: string; projectUuid: string },
  addressed: Omit<Addressed, 'unsubscribe'>,
): WrittenMail {
  const name = oneLine(limit.projectName)
  return written(
    `${limit.what} of the project "${name}"`,
    [
      `${limit.what}: no more are sent for the project "${name}" before the next month (UTC). Other integrations still notify.`,
      `${addressed.publicUrl}/projects/${limit.projectUuid}/integrations`,
    ],
    addressed,
  )
}

function written(
  subject: string,
  sections: readonly string[],
  { to, siteName, unsubscribe }: { to: string; siteName: string; unsubscribe?: string },
): WrittenMail {
  const html = sections.map((section) => `<p>${section.split('\n').map(lineHtml).join('<br>')}</p>`)
  const end = unsubscribe === undefined ? '' : `\nUnsubscribe: ${unsubscribe}`
  const link = unsubscribe === undefined ? '' : ` · <a href="${escapeHtml(unsubscribe)}">Unsubscribe</a>`
  return {
    to,
    subject: oneLine(subject),
    text: `${sections.join('\n\n')}\n\n--\n${siteName}${end}\n`,
    html: `<!doctype html><html lang="en"><body>${html.join('\n')}<p>${escapeHtml(siteName)}${link}</p></body></html>\n`,
    headers:
      unsubscribe === undefined
        ? {}
        : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  }
}

function lineHtml(line: string): string {
  const text = escapeHtml(line)
  return /^https?:\/\/\S+$/.test(line) ? `<a href="${text}">${text}</a>` : text
}
