import { trello } from '#shared/channels/kinds/trello.ts'
import { markdownText } from '#shared/notifications/chat-text.ts'
import { titleOf } from '#shared/notifications/message.ts'
import { deliver, form } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

export const trelloTransport = defineTransport(trello, async ({ http, now }, config, notification) => {
  const card = {
    idList: config.list_id,
    name: titleOf(notification),
    desc: markdownText(notification),
    key: config.key,
    token: config.token,
  }
  return deliver(http, now, form(`${config.base_url}/1/cards`, card))
})
