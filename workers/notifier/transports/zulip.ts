import { zulip } from '#shared/monitoring/integrations/kinds/zulip.ts'
import { markdownText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { basicAuth, deliver, form } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** The longest topic that Zulip takes. */
const maxTopic = 60

export const zulipTransport = defineTransport(zulip, async ({ http, now }, config, notification) => {
  const topic = config.topic || titleOf(notification).slice(0, maxTopic).toWellFormed()
  const message = fitted('zulip', notification, (shown) => ({
    type: config.mtype,
    to: config.to,
    ...(config.mtype === 'stream' && { topic }),
    content: markdownText(shown),
  }))
  return deliver(
    http,
    now,
    form(`${config.site}/api/v1/messages`, message, basicAuth(config.bot_email, config.api_key)),
  )
})
