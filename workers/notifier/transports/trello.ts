import { trello } from '#shared/monitoring/integrations/kinds/trello.ts'
import { markdownText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, form } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const trelloTransport = defineTransport(trello, async ({ http, now }, config, notification) => {
  const card = fitted('trello', notification, (shown) => ({
    idList: config.list_id,
    name: titleOf(shown),
    desc: markdownText(shown),
    key: config.key,
    token: config.token,
  }))
  return deliver(http, now, form(`${config.base_url}/1/cards`, card))
})
