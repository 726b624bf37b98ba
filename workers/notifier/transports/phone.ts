import { type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { call, signal, sms, whatsapp } from '#shared/monitoring/integrations/kinds/phone.ts'
import { ackUrlOf } from '#shared/monitoring/notifications/alert-texts.ts'
import { callScript, keysUrlOf } from '#shared/monitoring/notifications/call-script.ts'
import { plainText } from '#shared/monitoring/notifications/chat-text.ts'
import { fitToLimits } from '#shared/monitoring/notifications/fit-to-limits.ts'
import { smsText, speechText } from '#shared/monitoring/notifications/message.ts'
import { answeredObject, basicAuth, deliver, form, json } from './http-delivery.ts'
import { defineTransport, type Transport, type TransportContext, type TwilioSettings } from './transport.ts'

const invalidNumber = 21211

/** `provider` begins the error text if the operator's Twilio-compatible gateway is not configured. */
async function viaTwilio(
  context: TransportContext,
  provider: string,
  resource: 'Messages' | 'Calls',
  notificationId: string,
  fields: (twilio: TwilioSettings) => Record<string, string>,
): Promise<Outcome> {
  const { twilio, callbackUrlOf } = context.settings
  if (!twilio) return temporary(`${provider} notifications are not enabled`, { failure: 'config', final: true })
  const url = `${twilio.url.replace(/\/+$/, '')}/2010-04-01/Accounts/${encodeURIComponent(twilio.account)}/${resource}.json`
  const request = form(
    url,
    { ...fields(twilio), ...(callbackUrlOf && { StatusCallback: callbackUrlOf(notificationId) }) },
    basicAuth(twilio.account, twilio.auth),
  )
  return deliver(context.gatewayHttp, context.now, request, (answer) =>
    answer.status === 400 && answeredObject(answer).code === invalidNumber
      ? permanent('Invalid phone number', { failure: 'refused' })
      : null,
  )
}

const smsTransport = defineTransport(sms, async (context, config, notification) =>
  viaTwilio(context, 'SMS', 'Messages', notification.id, ({ from }) =>
    fitToLimits('sms', notification, (fitted) => ({
      From: from,
      To: config.value,
      Body: smsText(fitted, context.settings.siteName),
    })),
  ),
)

const callTransport = defineTransport(call, async (context, config, notification) =>
  viaTwilio(context, 'Call', 'Calls', notification.id, ({ from }) =>
    fitToLimits('call', notification, (fitted) => ({
      From: from,
      To: config.value,
      Twiml: callScript(speechText(fitted, context.settings.siteName), keysUrlOf(ackUrlOf(fitted))),
    })),
  ),
)

/** WhatsApp requires an approved template to open a conversation; other gateways may not. */
const whatsappTransport = defineTransport(whatsapp, async (context, config, notification) =>
  viaTwilio(context, 'WhatsApp', 'Messages', notification.id, ({ from }) =>
    fitToLimits('whatsapp', notification, (fitted) => {
      const text = smsText(fitted, context.settings.siteName)
      return {
        From: `whatsapp:${from}`,
        To: `whatsapp:${config.value}`,
        ...(config.content_sid === undefined
          ? { Body: text }
          : { ContentSid: config.content_sid, ContentVariables: JSON.stringify({ 1: text }) }),
      }
    }),
  ),
)

/** signal-cli answers 400 with the reason if a recipient is unknown to Signal. */
const signalTransport = defineTransport(signal, async ({ http, now }, config, notification) => {
  const message = fitToLimits('signal', notification, (fitted) => ({
    message: plainText(fitted),
    number: config.number,
    recipients: [config.value],
  }))
  return deliver(http, now, json('POST', `${config.url}/v2/send`, message), (answer) => {
    const { error } = answeredObject(answer)
    const isUnregistered = answer.status === 400 && typeof error === 'string' && /unregistered/i.test(error)
    return isUnregistered ? permanent('Recipient not found', { failure: 'refused' }) : null
  })
})

export const phoneTransports: readonly Transport[] = [smsTransport, callTransport, whatsappTransport, signalTransport]
