import { matrix } from '#shared/monitoring/integrations/kinds/matrix.ts'
import { htmlText, plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** The notification's id is the transaction id: a home server drops repetitions by itself. */
export const matrixTransport = defineTransport(matrix, async ({ http, now }, config, notification) => {
  const room = encodeURIComponent(config.room_id)
  const url = `${config.homeserver}/_matrix/client/v3/rooms/${room}/send/m.room.message/${notification.id}`
  const message = fitted('matrix', notification, (shown) => ({
    msgtype: 'm.text',
    // Whatever names and bodies hold, nobody is called by it.
    'm.mentions': {},
    body: plainText(shown),
    format: 'org.matrix.custom.html',
    formatted_body: htmlText(shown, '<br>'),
  }))
  return deliver(http, now, json('PUT', url, message, { authorization: `Bearer ${config.access_token}` }))
})
