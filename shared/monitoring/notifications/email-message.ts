import { dependentsText } from '../rules/parents.ts'
import { stateLabel, suppressedText } from './alert-texts.ts'
import { checkLabel, factsOf, formatInstant, linkTextOf, reasonText, titleOf, triedLabel } from './message.ts'
import type { Notification, NotifiedPing } from './notification.ts'
import { escapeHtml, type Fact, formatDuration, oneLine } from './text-parts.ts'

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

/** Returns the e-mail of a notification as plain text and HTML (docs/spec/monitoring.md#webhooks). */
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
  if (isTest) return `This is a test of the integration. No check is ${triedLabel(status)}, and no action is needed.`
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

/** Returns the end of the last ping's body. An e-mail ping is attached instead of quoted. */
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

interface EmailContent {
  headline: string
  tone: 'down' | 'up' | 'quiet'
  lead: string
  facts: Fact[]
  description: string
  body: { text: string; isCut: boolean } | null
  overview: string[]
  link: string
  linkText: string
  unsubscribe: string | null
  siteName: string
}

/** Readable on light and dark backgrounds, because mail programs convert colours for dark mode. */
const TONES = {
  down: { colour: '#b3261e', mark: '&#10005;' },
  up: { colour: '#1d7a4f', mark: '&#10003;' },
  quiet: { colour: '#47618f', mark: '&#8226;' },
} as const

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif;font-size:15px;line-height:1.5'
const SOFT = 'color:#6b7077'

/** Uses one column and inline styles, because mail programs ignore most other CSS. */
function emailHtml(content: EmailContent): string {
  const { colour, mark } = TONES[content.tone]
  const { body } = content
  const rows = content.facts.map(
    ({ label, value }) =>
      `<tr><th align="left" valign="top" style="padding:3px 16px 3px 0;font-weight:400;${SOFT}">${escapeHtml(label)}</th><td style="padding:3px 0">${escapeHtml(value)}</td></tr>`,
  )
  const overview = content.overview.map((line) => `<li>${escapeHtml(line)}</li>`)
  const parts = [
    `<h1 style="margin:0 0 8px;font-size:20px;line-height:1.3">${escapeHtml(content.headline)}</h1>`,
    `<p style="margin:0 0 16px">${escapeHtml(content.lead)}</p>`,
    `<p style="margin:0 0 20px"><a href="${escapeHtml(content.link)}" style="display:inline-block;padding:10px 18px;border-radius:8px;background:${colour};color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(content.linkText)}</a></p>`,
    content.description && `<p style="margin:0 0 16px;white-space:pre-wrap">${escapeHtml(content.description)}</p>`,
    rows.length > 0 &&
      `<table cellpadding="0" cellspacing="0" style="margin:0 0 16px;${FONT};font-size:14px">${rows.join('')}</table>`,
    body &&
      `<p style="margin:0 0 6px;${SOFT}">Last ping's body${body.isCut ? ' (only its end is shown)' : ''}:</p><pre style="margin:0 0 16px;padding:12px;border:1px solid #8885;border-radius:8px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px">${escapeHtml(body.text)}</pre>`,
    overview.length > 0 &&
      `<p style="margin:0 0 6px;${SOFT}">The project's checks:</p><ul style="margin:0 0 16px;padding-left:20px">${overview.join('')}</ul>`,
    `<p style="margin:24px 0 0;padding-top:12px;border-top:1px solid #8885;font-size:12px;${SOFT}">${escapeHtml(content.siteName)}${content.unsubscribe ? ` · <a href="${escapeHtml(content.unsubscribe)}" style="${SOFT}">Unsubscribe</a>` : ''}</p>`,
  ]
  const bar = `<td width="44" align="center" style="padding:8px 0;border-radius:10px;background:${colour};color:#ffffff;font-size:20px;font-weight:700">${mark}</td>`
  const head = '<meta charset="utf-8"><meta name="color-scheme" content="light dark">'
  const frame = `<table role="presentation" align="center" width="560" cellpadding="0" cellspacing="0" style="width:100%;max-width:560px;${FONT}"><tr>${bar}<td></td></tr><tr><td colspan="2" style="padding:16px 4px">${parts.filter(Boolean).join('\n')}</td></tr></table>`
  return `<!doctype html><html lang="en"><head>${head}</head><body style="margin:0;padding:20px">${frame}</body></html>\n`
}
