import type { Mailer } from '#shared/delivery/mailer.ts'
import { type Outcome, permanent } from '#shared/delivery/outcome.ts'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import type { Fault } from '#shared/validation.ts'

export interface TransportContext {
  /** for addresses that owners of integrations chose; restricted by the target policy */
  http: HttpClient
  /** for gateways that the operator chose, also in private networks */
  gatewayHttp: HttpClient
  /** null if no mail server is configured */
  mailer: Mailer | null
  settings: TransportSettings
  now(): number
  /** For services that report a new address of the recipient. */
  saveConfig(config: Record<string, unknown>): Promise<void>
  /** Returns one outcome per existing integration. A repeated call must not send again what was delivered. */
  sendToMembers(integrationIds: readonly string[], notification: Notification): Promise<readonly Outcome[]>
}

interface TransportSettings {
  siteName: string
  /** null if text messages, calls and WhatsApp are disabled */
  twilio: TwilioSettings | null
  /** of the operator's Apprise API; null if the kind is disabled */
  appriseUrl: string | null
  mayRunCommands: boolean
  /** absent if bounces are not processed */
  bounceAddressOf?(notificationId: string): string
  /** a gateway reports the later result; absent if it could not reach the URL */
  callbackUrlOf?(notificationId: string): string
}

export interface TwilioSettings {
  url: string
  account: string
  auth: string
  from: string
}

/** The notifier has applied all limits before it calls `send`. */
export interface Transport {
  readonly kind: string
  /** A rejection means a fault of this service, never of the target. */
  send(context: TransportContext, config: unknown, notification: Notification): Promise<Outcome>
}

/** `send` receives the configuration as its kind has parsed it. */
export function defineTransport<Config>(
  kind: IntegrationKind<Config>,
  send: (context: TransportContext, config: Config, notification: Notification) => Promise<Outcome>,
): Transport {
  return {
    kind: kind.kind,
    async send(context, config, notification) {
      const parsed = kind.parse(config)
      if (!parsed.ok)
        return permanent(`The configuration is not valid${problemOf(parsed.faults)}`, { failure: 'config' })
      return send(context, parsed.config, notification)
    },
  }
}

/** Rules may have become stricter since the integration was stored. */
function problemOf([first]: readonly Fault[]): string {
  return first === undefined ? '' : `: ${[first.path, first.problem].filter((part) => part !== '').join(' ')}`
}
