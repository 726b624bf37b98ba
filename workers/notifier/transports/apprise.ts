import { temporary } from '#shared/delivery/outcome.ts'
import { apprise } from '#shared/monitoring/integrations/kinds/apprise.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { titleOf } from '#shared/monitoring/notifications/message.ts'
import { deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** By the Apprise library behind its own HTTP API, which the operator runs: title and body (docs/spec/monitoring.md#integration-kinds). */
export const appriseTransport = defineTransport(
  apprise,
  async ({ gatewayHttp, now, settings }, config, notification) => {
    const { appriseUrl } = settings
    if (appriseUrl === null) {
      return temporary('Apprise notifications are not enabled', { failure: 'config', final: true })
    }
    const message = fitted('apprise', notification, (shown) => ({
      urls: config.value,
      title: titleOf(shown),
      body: plainText(shown),
      type: shown.status === 'up' ? 'success' : 'failure',
    }))
    return deliver(gatewayHttp, now, json('POST', `${appriseUrl.replace(/\/+$/, '')}/notify/`, message))
  },
)
