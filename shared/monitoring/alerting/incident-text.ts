import { type Micros, toIsoSeconds } from '../../time.ts'
import { personLabel } from '../contacts/person-label.ts'
import { escapeMarkdown, formatDuration } from '../notifications/text-parts.ts'
import type { ShownIncident } from './incident-page-view.ts'
import type { TimelineEntry } from './timeline.ts'

export const REPORT_TEMPLATE = `Summary


Impact


Timeline


Cause


Actions
`

/** `2026-11-28 02:12:00 UTC` */
function utcText(at: Micros): string {
  return `${toIsoSeconds(at).slice(0, 19).replace('T', ' ')} UTC`
}

/** `2026-11-28 02:12:00 UTC  Down: no ping in time` */
function lineOf({ at, text, detail }: TimelineEntry): string {
  const until = typeof detail.until === 'string' ? ` until ${detail.until.slice(0, 19).replace('T', ' ')} UTC` : ''
  return `${utcText(at)}  ${text.replace(/\s+/g, ' ')}${until}`
}

export function timelineText(entries: readonly TimelineEntry[]): string {
  return entries.map(lineOf).join('\n')
}

/** Puts the lines below the heading “Timeline”, if the report has one, otherwise at the end. */
export function withTimeline(report: string, lines: string): string {
  if (lines === '') return report
  const heading = /^#* ?Timeline[ \t]*\r?\n/m.exec(report)
  if (!heading) return report === '' ? lines : `${report}\n\n${lines}`
  const at = heading.index + heading[0].length
  return `${report.slice(0, at)}${lines}\n${report.slice(at)}`
}

/** Returns the last acknowledger with the kind of contact method that was used; '' without one. */
export function acknowledgerOf({
  ackBy,
  ackVia,
  ackName,
  ackedBy,
}: Pick<ShownIncident, 'ackBy' | 'ackVia' | 'ackName' | 'ackedBy'>): string {
  return personLabel(ackBy ?? ackedBy ?? '', ackVia, ackName)
}

interface Exported {
  incident: ShownIncident
  entries: readonly TimelineEntry[]
  /** address of the page */
  url: string
  now: Micros
}

/** The whole incident for another tool. Names and entries contain no formatting; the report is as it was written. */
export function incidentMarkdown({ incident, entries, url, now }: Exported): string {
  const { name, checkUuid, state, severity, downAt, resolvedAt, assignee, report } = incident
  const facts = [
    ['State', state],
    ['Severity', severity],
    ['Down since', utcText(downAt)],
    ['Resolved', resolvedAt === null ? '' : utcText(resolvedAt)],
    ['Duration', formatDuration(Math.max(0, (resolvedAt ?? now) - downAt))],
    ['Acknowledged by', acknowledgerOf(incident)],
    ['Assigned to', assignee ?? ''],
    ['Page', url],
  ] as const
  const shown = facts.filter(([, value]) => value !== '').map(([label, value]) => `- ${label}: ${plain(value)}`)
  return [
    `# ${escapeMarkdown(oneLine(name || checkUuid))}`,
    shown.join('\n'),
    '## Timeline',
    entries.map((entry) => `- ${plain(lineOf(entry))}`).join('\n') || 'No entries.',
    ...(report === '' ? [] : ['## Report', report]),
  ]
    .join('\n\n')
    .concat('\n')
}

/** Leaves addresses and times readable: they contain no text of users. */
function plain(text: string): string {
  const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC(?: {2})?/.exec(text)?.[0] ?? ''
  if (/^https?:\/\/\S+$/.test(text)) return `<${text}>`
  return time.replace(/ {2}$/, ' ') + escapeMarkdown(oneLine(text.slice(time.length)))
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
