import { pushbullet } from '#shared/monitoring/integrations/kinds/pushbullet.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const pushbulletTransport = defineTransport(pushbullet, async ({ http, now }, config, notification) => {
  const note = fitted('pushbullet', notification, (shown) => ({
    type: 'note',
    title: titleOf(shown),
    body: plainText(shown),
    guid: shown.id,
  }))
  return deliver(http, now, json('POST', `${config.base_url}/v2/pushes`, note, { 'access-token': config.access_token }))
})
