import { dependentsText } from '../rules/parents.ts'
import { stateLabel, suppressedText } from './alert-texts.ts'
import { formatDuration } from './durations.ts'
import { type EmailContent, emailHtml } from './email-html.ts'
import { oneLine } from './escapes.ts'
import type { Fact } from './fact.ts'
import { checkLabel, factsOf, formatInstant, linkTextOf, reasonText, titleOf, triedLabel } from './message.ts'
import type { Notification, NotifiedPing } from './notification.ts'

export interface EmailMessage {
  /** without angle brackets, derived from the notification's id */
  messageId: string
  subject: string
  text: string
  html: string
  headers: Record<string, string>
  attachments: { filename: string; contentType: string; content: Buffer }[]
}

/** The longest end of a ping's body that an e-mail quotes, in characters (docs/spec/monitoring.md#webhooks). */
const maxQuoted = 10_000

/** The e-mail about one change, as plain text and HTML saying the same (docs/spec/monitoring.md#webhooks). */
export function emailMessage(notification: Notification, siteName: string): EmailMessage {
  const { check, urls, lastPing, isTest } = notification
  const content: EmailContent = {
    headline: titleOf(notification),
    tone: isTest || notification.summary ? 'quiet' : notification.status === 'down' ? 'down' : 'up',
    lead: leadOf(notification),
    facts: emailFacts(notification),
    description: check.desc,
    body: quotedEnd(lastPing),
    overview: overviewLines(notification),
    link: urls.check,
    linkText: linkTextOf(notification),
    unsubscribe: urls.unsubscribe,
    siteName,
  }
  return {
    messageId: `${notification.id}@${hostOf(urls.site)}`,
    subject: oneLine(
      isTest || notification.summary ? titleOf(notification) : `${stateLabel(notification)} | ${checkLabel(check)}`,
    ),
    text: textOf(content),
    html: emailHtml(content),
    headers: unsubscribeHeaders(urls.unsubscribe),
    attachments: attachmentsOf(lastPing),
  }
}

function leadOf(notification: Notification): string {
  const { status, reason, downFor, isTest, summary, dependents = 0 } = notification
  if (summary) return summary.text
  if (isTest) return `Somebody tries this integration. No check is ${triedLabel(status)}, and nothing needs to be done.`
  if (status === 'down') {
    const went = reason === '' ? 'The check went down.' : `The check went down: ${reasonText(reason)}.`
    const suppression = suppressedText(notification)
    return [went, suppression && `${suppression}.`, dependentsText(dependents)].filter((part) => part !== '').join(' ')
  }
  return downFor === null ? 'The check is up again.' : `The check is up again, after ${formatDuration(downFor)}.`
}

function emailFacts(notification: Notification): Fact[] {
  const { flipAt, timeZone, lastPing } = notification
  if (notification.summary) return factsOf(notification)
  const source = lastPing ? [lastPing.scheme, lastPing.method, lastPing.remoteAddr, lastPing.ua] : []
  return [
    { label: 'Changed', value: formatInstant(flipAt, timeZone) },
    ...factsOf(notification),
    { label: 'Last ping from', value: oneLine(source.filter((part) => part).join(', ')) },
  ].filter((fact) => fact.value !== '')
}

/** An e-mail that was the last ping is attached whole, and not quoted. */
function quotedEnd(ping: NotifiedPing | null): EmailContent['body'] {
  if (!ping?.body || ping.scheme === 'email' || ping.body.byteLength === 0) return null
  const text = ping.body.toString('utf8')
  return { text: text.slice(-maxQuoted).toWellFormed(), isCut: text.length > maxQuoted }
}

function attachmentsOf(ping: NotifiedPing | null): EmailMessage['attachments'] {
  if (!ping?.body || ping.scheme !== 'email') return []
  return [{ filename: 'last-ping.eml', contentType: 'message/rfc822', content: ping.body }]
}

function overviewLines({ overview, timeZone }: Notification): string[] {
  return (overview ?? []).map(({ label, status, lastPingAt }) =>
    oneLine(`${label}: ${status}, ${lastPingAt === null ? 'never pinged' : formatInstant(lastPingAt, timeZone)}`),
  )
}

function unsubscribeHeaders(url: string | null): Record<string, string> {
  if (url === null) return {}
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
}

function textOf(content: EmailContent): string {
  const { body } = content
  const sections = [
    content.headline,
    content.lead,
    content.link,
    content.description,
    content.facts.map(({ label, value }) => `${label}: ${value}`).join('\n'),
    body ? `Last ping's body${body.isCut ? ' (only its end is shown)' : ''}:\n${body.text}` : '',
    content.overview.length > 0 ? `The project's checks:\n${content.overview.join('\n')}` : '',
    `--\n${content.siteName}${content.unsubscribe ? `\nUnsubscribe: ${content.unsubscribe}` : ''}`,
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function hostOf(site: string): string {
  return URL.parse(site)?.hostname || 'localhost'
}
