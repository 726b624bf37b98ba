import { permanent } from '#shared/delivery/outcome.ts'
import { slack } from '#shared/monitoring/integrations/kinds/slack.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { deliver, json } from './http-delivery.ts'
import { slackMessage } from './slack-format.ts'
import { defineTransport } from './transport.ts'

export const slackTransport = defineTransport(slack, async ({ http, now, settings }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitted('slack', notification, (shown) => slackMessage(shown, settings.siteName, 'slack')),
    ),
    ({ status, body }) => {
      const isGone = status === 404 || (status === 400 && body.toString('utf8').trim() === 'invalid_token')
      return isGone ? permanent(`Received status code ${status}`, { failure: 'status' }) : null
    },
  ),
)
