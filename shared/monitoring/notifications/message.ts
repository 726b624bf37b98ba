import { splitTags } from '../checks/tags.ts'
import { dependentsText } from '../rules/parents.ts'
import { ackUrlOf, alertFacts, stateLabel, suppressedText } from './alert-texts.ts'
import type { FlipReason, Notification, NotifiedCheck, NotifiedPing } from './notification.ts'
import { type Fact, formatDuration, formatInstant, formatPeriod, listText, oneLine, shortName } from './text-parts.ts'

const reasonTexts: Record<FlipReason, string> = {
  '': '',
  timeout: 'no success signal came in time and the grace time is over',
  fail: 'a failure signal was received',
}

export function reasonText(reason: FlipReason): string {
  return reasonTexts[reason]
}

export function checkLabel(check: Pick<NotifiedCheck, 'name' | 'uuid'>): string {
  return shortName(check.name) || check.uuid
}

export function titleOf(notification: Notification): string {
  if (notification.summary) return oneLine(notification.summary.title)
  if (notification.isTest) return `${checkLabel(notification.check)}: this is a test message`
  return `"${checkLabel(notification.check)}" is ${stateLabel(notification)}`
}

/** With reason and dependents, or the length of the outage: `"db-backup" is UP, after 2 days, 1 hour`. */
export function summaryOf(notification: Notification): string {
  const { status, downFor, summary } = notification
  if (summary) return `${titleOf(notification)}. ${oneLine(summary.text)}`.trimEnd()
  if (notification.brevity === 'title') return titleOf(notification)
  if (notification.isTest) return `${titleOf(notification)} (no check is ${testLabel(status)})`
  const reason = reasonText(notification.reason)
  const dependents = dependentsText(notification.dependents ?? 0)
  if (status === 'down' || notification.alert?.what === 'flapping') {
    const sentences = [suppressedText(notification), notification.sources?.slice(0, -1), dependents.slice(0, -1)]
    return [`${titleOf(notification)}${reason && ` (${reason})`}`, ...sentences.filter(Boolean)].join('. ')
  }
  return `${titleOf(notification)}${downFor === null ? '' : `, after ${formatDuration(downFor)}`}`
}

export function testLabel(status: Notification['status']): string {
  return status === 'up' ? 'up again' : 'down'
}

export function linkTextOf({ isTest, summary }: Pick<Notification, 'isTest' | 'summary'>): string {
  if (summary) return summary.linkText ?? 'Open the list'
  return isTest ? 'Open the integration' : 'Open the check'
}

/** `The check "db-backup" is DOWN.` */
export function sentenceOf(notification: Notification, escaped = (text: string): string => text): string {
  if (notification.summary) return escaped(summaryOf(notification))
  return `${notification.isTest ? '' : 'The check '}${escaped(summaryOf(notification))}.`
}

/** Special spaces would force the more expensive UCS-2 encoding. */
export function smsText(notification: Notification, siteName: string): string {
  const ackUrl = ackUrlOf(notification)
  const line = withPlainSpaces(`${siteName}: ${sentenceOf(notification)}`)
  return ackUrl === null ? line : `${line} Acknowledge: ${ackUrl}`
}

function withPlainSpaces(text: string): string {
  return oneLine(text).replace(/[\u00a0\u2007\u202f]/g, ' ')
}

export function speechText(notification: Notification, siteName: string): string {
  const { summary } = notification
  const withoutLink = summary
    ? { ...notification, summary: { ...summary, text: listText(summary.list, null) } }
    : notification
  return `Hello! A message from ${siteName}. ${withPlainSpaces(sentenceOf(withoutLink))}`
}

export function factsOf(notification: Notification): Fact[] {
  const { check, lastPing, summary, timeZone } = notification
  const project = { label: 'Project', value: notification.projectName }
  if (notification.brevity === 'title') return []
  if (notification.brevity === 'alert-facts') return alertFacts(notification).filter((fact) => fact.value !== '')
  if (summary) return [...summary.facts, project].filter((fact) => fact.value !== '')
  if (notification.isTest) return [project]
  const tags = splitTags(check.tags).join(', ')
  return [
    { label: 'Notified because', value: notification.alert?.recipientText ?? '' },
    ...alertFacts(notification),
    project,
    { label: 'Tags', value: tags },
    ...scheduleFacts(check),
    // As of the last ping that the message shows: later ones may have arrived before a delayed message.
    { label: 'Total pings', value: String(lastPing?.n ?? check.nPings) },
    { label: 'Last ping', value: lastPing ? describePing(lastPing, timeZone) : 'never' },
  ].filter((fact) => fact.value !== '')
}

/** Returns for example `failure, exit status 3, 31 Jan 2026, 10:00:00 UTC`. */
function describePing(ping: NotifiedPing, timeZone: string): string {
  const names = { success: 'success', start: 'start', fail: 'failure', log: 'log', ign: 'ignored' }
  const exit = ping.exitStatus === null ? '' : `, exit status ${ping.exitStatus}`
  return `${names[ping.type]}${exit}, ${formatInstant(ping.at, timeZone)}`
}

/** Characters of a ping's body in chat messages (docs/spec/monitoring.md#integration-kinds). */
const maxQuoted = 1000

export function quotedBody(notification: Notification): string {
  const { lastPing } = notification
  if (!lastPing?.body || lastPing.scheme === 'email') return ''
  const text = lastPing.body.toString('utf8').trim()
  return text.length > maxQuoted ? `${text.slice(0, maxQuoted).toWellFormed()}\n[truncated]` : text
}

function scheduleFacts(check: NotifiedCheck): Fact[] {
  if (check.kind === 'simple') return [{ label: 'Period', value: formatPeriod(check.timeoutSeconds) }]
  return [
    { label: 'Schedule', value: oneLine(check.schedule) },
    { label: 'Time zone', value: check.tz },
  ]
}
