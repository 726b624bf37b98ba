import { spike } from '#shared/monitoring/integrations/kinds/spike.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const spikeTransport = defineTransport(spike, async ({ http, now }, config, notification) => {
  const event = fitted('spike', notification, (shown) => ({
    check_id: notification.check.uniqueKey,
    title: titleOf(shown),
    message: plainText(shown),
    status: notification.status,
  }))
  return deliver(http, now, json('POST', config.url, event))
})
