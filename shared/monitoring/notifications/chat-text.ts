import { escapeHtml } from '../../html.ts'
import { ackFacts, ackUrlOf } from './alert-texts.ts'
import { factsOf, linkTextOf, quotedBody, sentenceOf, summaryOf, titleOf } from './message.ts'
import type { Notification } from './notification.ts'
import { codeBlock, escapeMarkdown } from './text-parts.ts'

export function markdownText(notification: Notification): string {
  const facts = factsOf(notification).map(({ label, value }) => `- **${label}:** ${escapeMarkdown(value)}`)
  const body = quotedBody(notification)
  const parts = [
    sentenceOf(notification, escapeMarkdown),
    facts.join('\n'),
    body && `**Last ping's body:**\n${codeBlock(body)}`,
    `[${notification.summary ? linkTextOf(notification) : 'Open the check'}](${notification.urls.check})`,
    ackMarkdown(notification),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Returns finished Markdown. It is added after escaping, which could break the address. */
export function ackMarkdown(notification: Notification): string {
  const url = ackUrlOf(notification)
  return url === null ? '' : `[Acknowledge](${url})`
}

export function plainText(notification: Notification): string {
  const facts = factsOf(notification).map(({ label, value }) => `${label}: ${value}`)
  const body = quotedBody(notification)
  const parts = [
    sentenceOf(notification),
    facts.join('\n'),
    body && `Last ping's body:\n${body}`,
    notification.urls.check,
    ...ackFacts(notification).map(({ label, value }) => `${label}: ${value}`),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** Uses only `b`, `a` and `pre`; for Telegram, Matrix and Pushover. */
export function htmlText(notification: Notification, lineBreak: string, hasButtons = false): string {
  const facts = factsOf(notification).map(({ label, value }) => `<b>${label}:</b> ${escapeHtml(value)}`)
  const body = quotedBody(notification)
  const ackUrl = hasButtons ? null : ackUrlOf(notification)
  const lines = [
    `${notification.isTest || notification.summary ? '' : 'The check '}<a href="${escapeHtml(notification.urls.check)}">${escapeHtml(summaryOf(notification))}</a>${notification.summary ? '' : '.'}`,
    ...facts,
    ...(body ? ["<b>Last ping's body:</b>", `<pre>${escapeHtml(body)}</pre>`] : []),
    ...(ackUrl === null ? [] : [`<a href="${escapeHtml(ackUrl)}">Acknowledge</a>`]),
  ]
  return lines.join(lineBreak)
}

const COLOURS = { up: '#2e7d32', down: '#c62828', test: '#47618f' } as const
const SYMBOLS = { up: '🟢', down: '🔴', test: '⚪' } as const

const toneOf = ({ isTest, status }: Notification) => (isTest ? 'test' : status)

/** A test message looks neither like a failure nor like a recovery. */
export function colourOf(notification: Notification): string {
  return COLOURS[toneOf(notification)]
}

/** Begins with a coloured symbol, for cards that show no colour of the status (Google Chat, Teams). */
export function markedTitle(notification: Notification): string {
  return `${SYMBOLS[toneOf(notification)]} ${titleOf(notification)}`
}
