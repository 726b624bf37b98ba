import { spike } from '#shared/monitoring/channels/kinds/spike.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const spikeTransport = defineTransport(spike, async ({ http, now }, config, notification) => {
  const event = {
    check_id: notification.check.uniqueKey,
    title: titleOf(notification),
    message: plainText(notification),
    status: notification.status,
  }
  return deliver(http, now, json('POST', config.url, event))
})
