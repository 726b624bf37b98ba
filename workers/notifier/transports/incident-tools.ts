import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { opsgenie, pagertree, pd, spike, victorops } from '#shared/monitoring/integrations/kinds/incident-tools.ts'
import { ackFacts } from '#shared/monitoring/notifications/alert-texts.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitToLimits } from '#shared/monitoring/notifications/fit-to-limits.ts'
import { factsOf, sentenceOf, titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json, permanentOn } from './http-delivery.ts'
import { defineTransport, type Transport } from './transport.ts'

/** `incident_key` identifies the incident, so that the recovery resolves it. */
const pdTransport = defineTransport(pd, async ({ http, now, settings }, config, notification) => {
  const event = fitToLimits('pd', notification, (fitted) => ({
    service_key: config.service_key,
    incident_key: notification.check.uniqueKey,
    event_type: notification.status === 'up' ? 'resolve' : 'trigger',
    description: sentenceOf(fitted),
    client: settings.siteName,
    client_url: notification.urls.check,
    details: Object.fromEntries([...factsOf(fitted), ...ackFacts(fitted)].map(({ label, value }) => [label, value])),
  }))
  return deliver(http, now, json('POST', `${config.base_url}/generic/2010-04-15/create_event.json`, event))
})

const servers = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' }

/** Opsgenie rejects an alert with more or longer tags. */
const MAX_TAGS = 20
const MAX_TAG_LENGTH = 50

/** A recovery closes the alert by its alias. */
const opsgenieTransport = defineTransport(opsgenie, async ({ http, now, settings }, config, notification) => {
  const { check, status } = notification
  const alerts = `${config.base_url ?? servers[config.region]}/v2/alerts`
  const source = settings.siteName.slice(0, 100)
  const authorization = { authorization: `GenieKey ${config.key}` }
  if (status === 'up') {
    const url = `${alerts}/${check.uniqueKey}/close?identifierType=alias`
    const end = fitToLimits('opsgenie', notification, (fitted) => ({ source, note: plainText(fitted) }))
    return deliver(http, now, json('POST', url, end, authorization))
  }
  const alert = fitToLimits('opsgenie', notification, (fitted) => ({
    alias: check.uniqueKey,
    source,
    message: titleOf(fitted).slice(0, 130).toWellFormed(),
    description: plainText(fitted),
    tags: splitTags(check.tags)
      .filter((tag) => tag.length <= MAX_TAG_LENGTH)
      .slice(0, MAX_TAGS),
    note: plainText(fitted),
  }))
  return deliver(http, now, json('POST', alerts, alert, authorization))
})

const victoropsTransport = defineTransport(victorops, async ({ http, now, settings }, config, notification) => {
  const event = fitToLimits('victorops', notification, (fitted) => ({
    entity_id: notification.check.uniqueKey,
    message_type: notification.status === 'up' ? 'RECOVERY' : 'CRITICAL',
    entity_display_name: titleOf(fitted),
    state_message: plainText(fitted),
    monitoring_tool: settings.siteName,
  }))
  return deliver(http, now, json('POST', config.url, event), permanentOn(404))
})

const pagertreeTransport = defineTransport(pagertree, async ({ http, now, settings }, config, notification) => {
  const event = fitToLimits('pagertree', notification, (fitted) => ({
    incident_key: notification.check.uniqueKey,
    event_type: notification.status === 'up' ? 'resolve' : 'trigger',
    title: titleOf(fitted),
    description: plainText(fitted),
    client: settings.siteName,
    client_url: notification.urls.check,
    tags: notification.check.tags,
  }))
  return deliver(http, now, json('POST', config.url, event))
})

const spikeTransport = defineTransport(spike, async ({ http, now }, config, notification) => {
  const event = fitToLimits('spike', notification, (fitted) => ({
    check_id: notification.check.uniqueKey,
    title: titleOf(fitted),
    message: plainText(fitted),
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
