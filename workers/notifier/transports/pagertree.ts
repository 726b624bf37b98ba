import { pagertree } from '#shared/monitoring/integrations/kinds/pagertree.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const pagertreeTransport = defineTransport(pagertree, async ({ http, now, settings }, config, notification) => {
  const event = fitted('pagertree', notification, (shown) => ({
    incident_key: notification.check.uniqueKey,
    event_type: notification.status === 'up' ? 'resolve' : 'trigger',
    title: titleOf(shown),
    description: plainText(shown),
    client: settings.siteName,
    client_url: notification.urls.check,
    tags: notification.check.tags,
  }))
  return deliver(http, now, json('POST', config.url, event))
})
