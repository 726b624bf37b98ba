import { victorops } from '#shared/monitoring/integrations/kinds/victorops.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json, permanentOn } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** Splunk On-Call, by the REST integration's address. */
export const victoropsTransport = defineTransport(victorops, async ({ http, now, settings }, config, notification) => {
  const event = fitted('victorops', notification, (shown) => ({
    entity_id: notification.check.uniqueKey,
    message_type: notification.status === 'up' ? 'RECOVERY' : 'CRITICAL',
    entity_display_name: titleOf(shown),
    state_message: plainText(shown),
    monitoring_tool: settings.siteName,
  }))
  return deliver(http, now, json('POST', config.url, event), permanentOn(404))
})
