import { factsOf, linkTextOf, quotedBody, sentenceOf, summaryOf, titleOf } from './message.ts'
import type { Notification } from './notification.ts'
import { codeBlock, escapeHtml, escapeMarkdown } from './text-parts.ts'

/** The message in Markdown, without its title: summary, facts, the last ping's body, a link. */
export function markdownText(notification: Notification): string {
  const facts = factsOf(notification).map(({ label, value }) => `- **${label}:** ${escapeMarkdown(value)}`)
  const body = quotedBody(notification)
  const parts = [
    sentenceOf(notification, escapeMarkdown),
    facts.join('\n'),
    body && `**Last ping's body:**\n${codeBlock(body)}`,
    `[${notification.summary ? linkTextOf(notification) : 'Open the check'}](${notification.urls.check})`,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The message in plain text, title and all. */
export function plainText(notification: Notification): string {
  const facts = factsOf(notification).map(({ label, value }) => `${label}: ${value}`)
  const body = quotedBody(notification)
  const parts = [
    sentenceOf(notification),
    facts.join('\n'),
    body && `Last ping's body:\n${body}`,
    notification.urls.check,
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** The message with the few elements that chat services know (`b`, `a`, `pre`); lines are ended by `lineBreak`. */
export function htmlText(notification: Notification, lineBreak: string): string {
  const facts = factsOf(notification).map(({ label, value }) => `<b>${label}:</b> ${escapeHtml(value)}`)
  const body = quotedBody(notification)
  const lines = [
    `${notification.isTest || notification.summary ? '' : 'The check '}<a href="${escapeHtml(notification.urls.check)}">${escapeHtml(summaryOf(notification))}</a>${notification.summary ? '' : '.'}`,
    ...facts,
    ...(body ? ["<b>Last ping's body:</b>", `<pre>${escapeHtml(body)}</pre>`] : []),
  ]
  return lines.join(lineBreak)
}

/** Colours that stand for the two directions. */
export const statusColours = { up: '#2e7d32', down: '#c62828' } as const

/** A title that begins with a mark of the direction, for lists in which messages stand side by side. */
export function markedTitle(notification: Notification): string {
  return `${notification.status === 'up' ? '🟢' : '🔴'} ${titleOf(notification)}`
}
