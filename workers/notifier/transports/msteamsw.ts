import { msteamsw } from '#shared/monitoring/integrations/kinds/msteamsw.ts'
import { markedTitle } from '#shared/monitoring/notifications/chat-text.ts'
import { escapeInlineMarkdown, escapeMarkdown } from '#shared/monitoring/notifications/escapes.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { factsOf, quotedBody, sentenceOf, summaryOf } from '#shared/monitoring/notifications/message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const msteamswTransport = defineTransport(msteamsw, async ({ http, now }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitted('msteamsw', notification, (shown) => ({
        type: 'message',
        attachments: [{ ...cardType, content: card(shown) }],
      })),
    ),
  ),
)

const cardType = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null }

/** An Adaptive Card as Teams workflows take it. Its text blocks and facts read Markdown. */
function card(notification: Notification) {
  const body = quotedBody(notification)
  const facts = factsOf(notification).map(({ label, value }) => ({
    title: `${label}:`,
    value: escapeInlineMarkdown(value),
  }))
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    fallbackText: summaryOf(notification),
    body: [
      {
        type: 'TextBlock',
        text: escapeMarkdown(markedTitle(notification)),
        weight: 'bolder',
        size: 'medium',
        wrap: true,
      },
      { type: 'TextBlock', text: escapeMarkdown(sentenceOf(notification)), wrap: true },
      { type: 'FactSet', facts },
      ...(body ? [{ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text: body, fontType: 'monospace' }] }] : []),
    ],
    actions: [{ type: 'Action.OpenUrl', title: 'Open the check', url: notification.urls.check }],
  }
}
