import {
  bounceAddress,
  callbackPath,
  signedOfBounce,
  signedOfCallback,
} from '#shared/monitoring/notifications/callbacks.ts'
import type { NotifierContext } from './context.ts'
import type { TransportContext } from './transports/transport.ts'

export function transportSettings({
  config,
  secrets,
}: Pick<NotifierContext, 'config' | 'secrets'>): TransportContext['settings'] {
  const { siteName, twilioUrl: url, twilioAccount: account, twilioAuth: auth, twilioFrom: from } = config
  const { bounceDomain, publicUrl } = config
  const isSet = account !== undefined && auth !== undefined && from !== undefined
  return {
    siteName,
    twilio: isSet ? { url, account, auth, from } : null,
    appriseUrl: config.appriseUrl ?? null,
    mayRunCommands: config.shellEnabled,
    ...(bounceDomain !== undefined && {
      bounceAddressOf: (id: string) => bounceAddress(id, secrets.digest(signedOfBounce(id)), bounceDomain),
    }),
    // Gateways refuse a message if they cannot reach its callback URL.
    ...(publicUrl.startsWith('https:') && {
      callbackUrlOf: (id: string) => publicUrl + callbackPath(id, secrets.digest(signedOfCallback(id))),
    }),
  }
}
