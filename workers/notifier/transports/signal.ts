import { permanent } from '#shared/delivery/outcome.ts'
import { signal } from '#shared/monitoring/integrations/kinds/signal.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitted } from '#shared/monitoring/notifications/fitted.ts'
import { answeredObject, deliver, json } from './http-delivery.ts'
import { defineTransport } from './transport.ts'

/** Through the REST server of signal-cli, which answers 400 with the reason when a recipient is unknown to Signal. */
export const signalTransport = defineTransport(signal, async ({ http, now }, config, notification) => {
  const message = fitted('signal', notification, (shown) => ({
    message: plainText(shown),
    number: config.number,
    recipients: [config.value],
  }))
  return deliver(http, now, json('POST', `${config.url}/v2/send`, message), (answer) => {
    const { error } = answeredObject(answer)
    const isUnregistered = answer.status === 400 && typeof error === 'string' && /unregistered/i.test(error)
    return isUnregistered ? permanent('Recipient not found', { failure: 'refused' }) : null
  })
})
