import type { Breaker } from '../delivery/circuit-breaker.ts'
import type { ApiEnv } from '../environment.ts'
import type { Micros } from '../time.ts'

/**
 * ACTIVE is sent to. DISABLED by its owner; DISABLED_FAILING by us, after long failure or a 410; BLOCKED by us, since its
 * address may not be connected to. Events for an endpoint that is not active are kept, and can be replayed.
 */
export type EndpointState = 'ACTIVE' | 'DISABLED' | 'DISABLED_FAILING' | 'BLOCKED'

/** Why we switched an endpoint off: long failure, an answer 410, or an address that is not allowed. */
export type SwitchedOffReason = 'FAILING' | 'GONE' | 'ADDRESS'

/** How an endpoint has been doing, as a value; changed by each attempt (result.ts). */
export interface EndpointHealth {
  state: EndpointState
  reason: SwitchedOffReason | null
  breaker: Breaker
  /** failed attempts since the last success */
  failures: number
  /** the first of them; null when healthy */
  failingSince: Micros | null
  lastSuccessAt: Micros | null
}

/** How a delivery stands. Only PENDING is still to be sent; the others are final unless replayed. */
export type DeliveryState =
  | 'PENDING'
  | 'DELIVERED'
  | 'FAILED'
  | 'EXHAUSTED'
  | 'SUPPRESSED'
  | 'SUPPRESSED_SANDBOX'
  | 'CANCELLED'

/** An endpoint as its owner sees it; the secret is never among it. */
export interface Endpoint {
  id: string
  env: ApiEnv
  url: string
  description: string
  eventTypes: string[]
  ordered: boolean
  state: EndpointState
  reason: SwitchedOffReason | null
  failures: number
  lastSuccessAt: Date | null
  previousSecretExpiresAt: Date | null
  createdAt: Date
  updatedAt: Date
}
