import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { ntfy } from '#shared/monitoring/integrations/kinds/ntfy.ts'
import { markdownText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { linkTextOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const ntfyTransport = defineTransport(ntfy, async ({ http, now }, config, notification) => {
  const isUp = notification.status === 'up'
  const message = fitted('ntfy', notification, (shown) => ({
    topic: config.topic,
    priority: isUp ? config.priority_up : config.priority,
    title: titleOf(shown),
    message: markdownText(shown),
    markdown: true,
    // ntfy draws the tags it knows as symbols.
    tags: [isUp ? 'green_circle' : 'red_circle', ...splitTags(notification.check.tags)],
    actions: [
      {
        action: 'view',
        label: notification.summary ? linkTextOf(notification) : 'Open the check',
        url: notification.urls.check,
      },
    ],
  }))
  const headers: Record<string, string> = config.token ? { authorization: `Bearer ${config.token}` } : {}
  return deliver(http, now, json('POST', config.url, message, headers))
})
