import { opsgenie } from '#shared/monitoring/channels/kinds/opsgenie.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

const servers = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' }

/** Creates an alert on down and closes it by its alias on up. */
export const opsgenieTransport = defineTransport(opsgenie, async ({ http, now, settings }, config, notification) => {
  const { check, status } = notification
  const alerts = `${config.base_url ?? servers[config.region]}/v2/alerts`
  const authorization = { authorization: `GenieKey ${config.key}` }
  const note = plainText(notification)
  if (status === 'up') {
    const url = `${alerts}/${check.uniqueKey}/close?identifierType=alias`
    return deliver(http, now, json('POST', url, { source: settings.siteName, note }, authorization))
  }
  const alert = {
    alias: check.uniqueKey,
    source: settings.siteName,
    message: titleOf(notification).slice(0, 130).toWellFormed(),
    description: note,
    tags: splitTags(check.tags),
    note,
  }
  return deliver(http, now, json('POST', alerts, alert, authorization))
})
