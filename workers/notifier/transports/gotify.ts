import { gotify } from '#shared/monitoring/integrations/kinds/gotify.ts'
import { markdownText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const gotifyTransport = defineTransport(gotify, async ({ http, now }, config, notification) => {
  const priority = notification.status === 'up' ? config.priority_up : config.priority
  const message = fitted('gotify', notification, (shown) => ({
    title: titleOf(shown),
    message: markdownText(shown),
    ...(priority !== undefined && { priority }),
    extras: { 'client::display': { contentType: 'text/markdown' } },
  }))
  return deliver(http, now, json('POST', `${config.url}/message?token=${encodeURIComponent(config.token)}`, message))
})
