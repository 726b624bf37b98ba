import type { Mailer } from '#shared/delivery/mailer.ts'
import { type Outcome, permanent } from '#shared/delivery/outcome.ts'
import type { FieldError } from '#shared/errors.ts'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'

/** What transports need from the process they run in. */
export interface TransportContext {
  /** for addresses that owners of integrations chose: bound by the target policy */
  http: HttpClient
  /** for gateways that the operator chose, wherever they are */
  gatewayHttp: HttpClient
  /** null when no mail server is configured */
  mailer: Mailer | null
  settings: TransportSettings
  now(): number
  /** replaces the integration's stored configuration: for services that announce a new address of a recipient */
  saveConfig(config: Record<string, unknown>): Promise<void>
  /**
   * Passes the notification on to other integrations of the project, each with a log entry of its own, one end per
   * integration that exists. A repeated call must not send again what was delivered.
   */
  sendToMembers(integrationIds: readonly string[], notification: Notification): Promise<readonly Outcome[]>
}

interface TransportSettings {
  siteName: string
  /** null when text messages, calls and WhatsApp are switched off */
  twilio: TwilioSettings | null
  /** of the operator's Apprise API; null when the kind is switched off */
  appriseUrl: string | null
  /** whether integrations may run commands on this machine */
  mayRunCommands: boolean
  /** the envelope sender of a notification's mail; absent: bounces are not taken */
  bounceAddressOf?(notificationId: string): string
  /** where a gateway says later what became of a notification; absent: it could not reach us */
  callbackUrlOf?(notificationId: string): string
}

export interface TwilioSettings {
  url: string
  account: string
  auth: string
  from: string
}

/** How one kind sends: one verb. Bounds on rate and month are the notifier's, before it asks. */
export interface Transport {
  readonly kind: string
  /** Never rejects for what the outside world does; a rejection is a fault of ours. */
  send(context: TransportContext, config: unknown, notification: Notification): Promise<Outcome>
}

/** @param send gets a configuration that its kind has parsed */
export function defineTransport<Config>(
  kind: IntegrationKind<Config>,
  send: (context: TransportContext, config: Config, notification: Notification) => Promise<Outcome>,
): Transport {
  return {
    kind: kind.kind,
    async send(context, config, notification) {
      const parsed = kind.parse(config)
      if (!parsed.ok)
        return permanent(`The configuration is not valid${problemOf(parsed.errors)}`, { failure: 'config' })
      return send(context, parsed.config, notification)
    },
  }
}

/** Names the first member that is wrong, because rules may have become stricter since the integration was stored. */
function problemOf([first]: readonly FieldError[]): string {
  return first === undefined ? '' : `: ${[first.path, first.message].filter((part) => part !== '').join(' ')}`
}
