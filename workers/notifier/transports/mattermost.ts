import { mattermost } from '#shared/monitoring/integrations/kinds/mattermost.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { deliver, json } from './http-delivery.ts'
import { slackMessage } from './slack-format.ts'
import { defineTransport } from './transport.ts'

export const mattermostTransport = defineTransport(mattermost, async ({ http, now, settings }, config, notification) =>
  deliver(
    http,
    now,
    json(
      'POST',
      config.url,
      fitted('mattermost', notification, (shown) => slackMessage(shown, settings.siteName, 'markdown')),
    ),
  ),
)
