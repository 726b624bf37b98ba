import { type MailSection, renderMail, unsubscribeHeaders } from '../../delivery/mail-frame.ts'
import { dependentsText } from '../rules/parents.ts'
import { ackUrlOf, stateLabel, suppressedText } from './alert-texts.ts'
import { checkLabel, factsOf, linkTextOf, reasonText, testLabel, titleOf } from './message.ts'
import type { Notification, NotifiedPing } from './notification.ts'
import { type Fact, formatDuration, formatInstant, oneLine } from './text-parts.ts'

export interface EmailMessage {
  /** without angle brackets */
  messageId: string
  subject: string
  text: string
  html: string
  headers: Record<string, string>
  attachments: { filename: string; contentType: string; content: Buffer }[]
}

/** Characters from the end of a ping's body (docs/spec/monitoring.md#webhooks). */
const maxQuoted = 10_000

/** See docs/spec/monitoring.md#webhooks. */
export function emailMessage(notification: Notification, siteName: string): EmailMessage {
  const { check, urls, lastPing, isTest, status } = notification
  const isSummary = notification.summary !== undefined
  const { text, html } = renderMail({
    siteName,
    headline: titleOf(notification),
    tone: isTest || isSummary ? 'neutral' : status,
    sections: [
      { kind: 'text', text: leadOf(notification) },
      { kind: 'buttons', buttons: buttonsOf(notification) },
      { kind: 'text', text: check.desc },
      { kind: 'facts', facts: emailFacts(notification) },
      quotedEnd(lastPing),
      { kind: 'list', title: "The project's checks", lines: overviewLines(notification) },
    ],
    unsubscribe: urls.unsubscribe,
  })
  return {
    messageId: `${notification.id}@${hostOf(urls.site)}`,
    subject: oneLine(
      isTest || isSummary ? titleOf(notification) : `${stateLabel(notification)} | ${checkLabel(check)}`,
    ),
    text,
    html,
    headers: unsubscribeHeaders(urls.unsubscribe),
    attachments: attachmentsOf(lastPing),
  }
}

function buttonsOf(notification: Notification) {
  const open = { label: linkTextOf(notification), url: notification.urls.check }
  const ackUrl = ackUrlOf(notification)
  return ackUrl === null ? [open] : [open, { label: 'Acknowledge', url: ackUrl }]
}

function leadOf(notification: Notification): string {
  const { status, reason, downFor, isTest, summary, alert, dependents = 0 } = notification
  if (summary) return summary.text
  if (isTest) return `This is a test of the integration. No check is ${testLabel(status)}, and no action is needed.`
  if (status === 'down') {
    const went = reason === '' ? 'The check went down.' : `The check went down: ${reasonText(reason)}.`
    const suppression = suppressedText(notification)
    const parts = [went, suppression && `${suppression}.`, dependentsText(dependents), alert?.recipientText ?? '']
    return parts.filter((part) => part !== '').join(' ')
  }
  return downFor === null ? 'The check is up again.' : `The check is up again, after ${formatDuration(downFor)}.`
}

function emailFacts(notification: Notification): Fact[] {
  const { flipAt, timeZone, lastPing, alert, status } = notification
  if (notification.summary) return factsOf(notification)
  const source = lastPing ? [lastPing.scheme, lastPing.method, lastPing.remoteAddr, lastPing.ua] : []
  return [
    // "Down since" is the same instant.
    { label: 'Changed', value: alert && status === 'down' ? '' : formatInstant(flipAt, timeZone) },
    // The first paragraph contains the reason for the recipient.
    ...factsOf({ ...notification, ...(alert && { alert: { ...alert, recipientText: '' } }) }),
    { label: 'Last ping from', value: oneLine(source.filter((part) => part).join(', ')) },
  ].filter((fact) => fact.value !== '')
}

/** Returns the end of the last ping's body. An e-mail ping is attached instead of quoted. */
function quotedEnd(ping: NotifiedPing | null): MailSection {
  const text = ping?.body && ping.scheme !== 'email' ? ping.body.toString('utf8') : ''
  const cut = text.length > maxQuoted ? ' (only its end is shown)' : ''
  return { kind: 'quote', title: `Body of the last ping${cut}`, text: text.slice(-maxQuoted).toWellFormed() }
}

function attachmentsOf(ping: NotifiedPing | null): EmailMessage['attachments'] {
  if (!ping?.body || ping.scheme !== 'email') return []
  return [{ filename: 'last-ping.eml', contentType: 'message/rfc822', content: ping.body }]
}

function overviewLines({ overview, timeZone }: Notification): { text: string }[] {
  return (overview ?? []).map(({ label, status, lastPingAt }) => {
    const pinged = lastPingAt === null ? 'never pinged' : `last ping ${formatInstant(lastPingAt, timeZone)}`
    return { text: oneLine(`${label}: ${status === 'grace' ? 'late' : status} (${pinged})`) }
  })
}

function hostOf(site: string): string {
  return URL.parse(site)?.hostname || 'localhost'
}
