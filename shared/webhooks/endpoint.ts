import type { Breaker } from '../delivery/circuit-breaker.ts'
import type { ApiEnv } from '../environment.ts'
import type { Micros } from '../time.ts'

/** The owner sets DISABLED; the service sets the others. Events for an inactive endpoint are stored for replay. */
export type EndpointState = 'ACTIVE' | 'DISABLED' | 'DISABLED_FAILING' | 'BLOCKED'

/** FAILING: long failure. GONE: response 410. ADDRESS: refused by the target policy. */
export type SwitchedOffReason = 'FAILING' | 'GONE' | 'ADDRESS'

export interface EndpointHealth {
  state: EndpointState
  reason: SwitchedOffReason | null
  breaker: Breaker
  failures: number
  /** null when healthy */
  failingSince: Micros | null
  lastSuccessAt: Micros | null
}

/** Only PENDING deliveries are sent; the other states are final unless the delivery is replayed. */
export type DeliveryState =
  | 'PENDING'
  | 'DELIVERED'
  | 'FAILED'
  | 'EXHAUSTED'
  | 'SUPPRESSED'
  | 'SUPPRESSED_SANDBOX'
  | 'CANCELLED'

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
