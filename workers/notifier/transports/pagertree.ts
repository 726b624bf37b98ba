import { pagertree } from '#shared/monitoring/channels/kinds/pagertree.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const pagertreeTransport = defineTransport(pagertree, async ({ http, now, settings }, config, notification) => {
  const event = {
    incident_key: notification.check.uniqueKey,
    event_type: notification.status === 'up' ? 'resolve' : 'trigger',
    title: titleOf(notification),
    description: plainText(notification),
    client: settings.siteName,
    client_url: notification.urls.check,
    tags: notification.check.tags,
  }
  return deliver(http, now, json('POST', config.url, event))
})
