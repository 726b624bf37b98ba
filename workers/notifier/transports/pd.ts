import { pd } from '#shared/monitoring/integrations/kinds/pd.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { factsOf, sentenceOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** PagerDuty's generic events: the unique key ties the recovery to the incident. */
export const pdTransport = defineTransport(pd, async ({ http, now, settings }, config, notification) => {
  const event = fitted('pd', notification, (shown) => ({
    service_key: config.service_key,
    incident_key: notification.check.uniqueKey,
    event_type: notification.status === 'up' ? 'resolve' : 'trigger',
    description: sentenceOf(shown),
    client: settings.siteName,
    client_url: notification.urls.check,
    details: Object.fromEntries(factsOf(shown).map(({ label, value }) => [label, value])),
  }))
  return deliver(http, now, json('POST', `${config.base_url}/generic/2010-04-15/create_event.json`, event))
})
