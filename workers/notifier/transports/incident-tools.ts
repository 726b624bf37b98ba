import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { opsgenie, pagertree, pd, spike, victorops } from '#shared/monitoring/integrations/kinds/incident-tools.ts'
import { ackFacts } from '#shared/monitoring/notifications/alert-texts.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { factsOf, sentenceOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json, permanentOn } from './http-delivery.ts'
import { defineTransport, type Transport } from './transport.ts'

/** The unique key connects the recovery with its incident. */
const pdTransport = defineTransport(pd, async ({ http, now, settings }, config, notification) => {
  const event = fitted('pd', notification, (shown) => ({
    service_key: config.service_key,
    incident_key: notification.check.uniqueKey,
    event_type: notification.status === 'up' ? 'resolve' : 'trigger',
    description: sentenceOf(shown),
    client: settings.siteName,
    client_url: notification.urls.check,
    details: Object.fromEntries([...factsOf(shown), ...ackFacts(shown)].map(({ label, value }) => [label, value])),
  }))
  return deliver(http, now, json('POST', `${config.base_url}/generic/2010-04-15/create_event.json`, event))
})

const servers = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' }

/** Opsgenie rejects an alert with more or longer tags. */
const MAX_TAGS = 20
const MAX_TAG_LENGTH = 50

/** The alias of the alert closes it on up. */
const opsgenieTransport = defineTransport(opsgenie, async ({ http, now, settings }, config, notification) => {
  const { check, status } = notification
  const alerts = `${config.base_url ?? servers[config.region]}/v2/alerts`
  const source = settings.siteName.slice(0, 100)
  const authorization = { authorization: `GenieKey ${config.key}` }
  if (status === 'up') {
    const url = `${alerts}/${check.uniqueKey}/close?identifierType=alias`
    const end = fitted('opsgenie', notification, (shown) => ({ source, note: plainText(shown) }))
    return deliver(http, now, json('POST', url, end, authorization))
  }
  const alert = fitted('opsgenie', notification, (shown) => ({
    alias: check.uniqueKey,
    source,
    message: titleOf(shown).slice(0, 130).toWellFormed(),
    description: plainText(shown),
    tags: splitTags(check.tags)
      .filter((tag) => tag.length <= MAX_TAG_LENGTH)
      .slice(0, MAX_TAGS),
    note: plainText(shown),
  }))
  return deliver(http, now, json('POST', alerts, alert, authorization))
})

const victoropsTransport = defineTransport(victorops, async ({ http, now, settings }, config, notification) => {
  const event = fitted('victorops', notification, (shown) => ({
    entity_id: notification.check.uniqueKey,
    message_type: notification.status === 'up' ? 'RECOVERY' : 'CRITICAL',
    entity_display_name: titleOf(shown),
    state_message: plainText(shown),
    monitoring_tool: settings.siteName,
  }))
  return deliver(http, now, json('POST', config.url, event), permanentOn(404))
})

const pagertreeTransport = defineTransport(pagertree, async ({ http, now, settings }, config, notification) => {
  const event = fitted('pagertree', notification, (shown) => ({
    incident_key: notification.check.uniqueKey,
    event_type: notification.status === 'up' ? 'resolve' : 'trigger',
    title: titleOf(shown),
    description: plainText(shown),
    client: settings.siteName,
    client_url: notification.urls.check,
    tags: notification.check.tags,
  }))
  return deliver(http, now, json('POST', config.url, event))
})

const spikeTransport = defineTransport(spike, async ({ http, now }, config, notification) => {
  const event = fitted('spike', notification, (shown) => ({
    check_id: notification.check.uniqueKey,
    title: titleOf(shown),
    message: plainText(shown),
    status: notification.status,
  }))
  return deliver(http, now, json('POST', config.url, event))
})

export const incidentToolTransports: readonly Transport[] = [
  pdTransport,
  opsgenieTransport,
  victoropsTransport,
  pagertreeTransport,
  spikeTransport,
]
