import type { Mailer } from '#shared/delivery/mailer.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import type { WorkerDeps } from '../define-worker.ts'

/** What the notifier's parts are given. */
export interface NotifierDeps extends WorkerDeps {
  /** for addresses that owners of integrations chose */
  http: HttpClient
  /** for gateways that the operator chose */
  gatewayHttp: HttpClient
  /** null when no mail server is configured */
  mailer: Mailer | null
}
