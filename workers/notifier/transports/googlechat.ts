import { googlechat } from '#shared/monitoring/integrations/kinds/googlechat.ts'
import { markedTitle } from '#shared/monitoring/notifications/chat-text.ts'
import { escapeHtml } from '#shared/monitoring/notifications/escapes.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { factsOf, quotedBody, sentenceOf } from '#shared/monitoring/notifications/message.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const googlechatTransport = defineTransport(googlechat, async ({ http, now }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitted('googlechat', notification, (shown) => ({ cardsV2: [{ cardId: shown.id, card: card(shown) }] })),
    ),
  ),
)

function card(notification: Notification) {
  const body = quotedBody(notification)
  const facts = factsOf(notification).map(({ label, value }) => ({
    decoratedText: { topLabel: label, text: escapeHtml(value), wrapText: true },
  }))
  const link = { text: 'Open the check', onClick: { openLink: { url: notification.urls.check } } }
  const sections = [
    { widgets: [{ textParagraph: { text: escapeHtml(sentenceOf(notification)) } }, ...facts] },
    ...(body ? [{ header: "Last ping's body", widgets: [{ textParagraph: { text: escapeHtml(body) } }] }] : []),
    { widgets: [{ buttonList: { buttons: [link] } }] },
  ]
  return { header: { title: markedTitle(notification) }, sections }
}
