import { type Outcome, permanent, temporary } from '#shared/delivery/outcome.ts'
import { answeredObject, basicAuth, deliver, form } from './http-delivery.ts'
import type { TransportContext, TwilioSettings } from './transport.ts'

/** Twilio's code for a number that cannot exist. */
const invalidNumber = 21211

/**
 * One request to the Twilio-compatible gateway of the operator.
 * @param provider begins the text of the failure when the gateway is not set up
 */
export async function viaTwilio(
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
