import { rocketchat } from '#shared/monitoring/channels/kinds/rocketchat.ts'
import { deliver, json } from './http-delivery.ts'
import { slackMessage } from './slack-format.ts'
import { defineTransport } from './transport.ts'

/** Rocket.Chat calls the sender an alias; the attachment is Slack's. */
export const rocketchatTransport = defineTransport(
  rocketchat,
  async ({ http, now, settings }, config, notification) => {
    const { attachments } = slackMessage(notification, settings.siteName, 'markdown')
    return deliver(http, now, json('POST', config.url, { alias: settings.siteName, text: '', attachments }))
  },
)
