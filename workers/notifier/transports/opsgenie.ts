import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { opsgenie } from '#shared/monitoring/integrations/kinds/opsgenie.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

const servers = { us: 'https://api.opsgenie.com', eu: 'https://api.eu.opsgenie.com' }

/** Opsgenie refuses an alert with more or longer tags. */
const MAX_TAGS = 20
const MAX_TAG_LENGTH = 50

/** Creates an alert on down and closes it by its alias on up. */
export const opsgenieTransport = defineTransport(opsgenie, async ({ http, now, settings }, config, notification) => {
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
