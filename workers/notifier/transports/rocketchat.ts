import { rocketchat } from '#shared/monitoring/integrations/kinds/rocketchat.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { deliver, json } from './http-delivery.ts'
import { slackMessage } from './slack-format.ts'
import { defineTransport } from './transport.ts'

/** Rocket.Chat calls the sender an alias; the attachment is Slack's. */
export const rocketchatTransport = defineTransport(
  rocketchat,
  async ({ http, now, settings }, config, notification) => {
    const message = fitted('rocketchat', notification, (shown) => ({
      alias: settings.siteName,
      text: '',
      attachments: slackMessage(shown, settings.siteName, 'markdown').attachments,
    }))
    return deliver(http, now, json('POST', config.url, message))
  },
)
