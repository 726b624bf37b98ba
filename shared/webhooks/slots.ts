import { admit } from '../delivery/circuit-breaker.ts'
import { type Micros, microsOfMillis, toMillis } from '../time.ts'
import type { EndpointHealth } from './endpoint.ts'

/** Over all processes (docs/spec/transparency.md#webhook-delivery). */
export const SLOTS = 4
/** After these failures an endpoint has one slot, because each attempt may last until its deadline. */
const DOUBTFUL_AFTER = 3

export interface Slots {
  count: number
  /** stored if an attempt is made, because a half-open breaker records its probe */
  health: EndpointHealth
}

/** 0 while the breaker is open or the endpoint is not active. */
export function slotsOf(health: EndpointHealth, at: Micros): Slots {
  if (health.state !== 'ACTIVE') return { count: 0, health }
  const { pass, breaker } = admit(health.breaker, toMillis(at))
  if (!pass) return { count: 0, health }
  const isCareful = breaker.phase === 'half-open' || breaker.consecutiveFailures >= DOUBTFUL_AFTER
  return { count: isCareful ? 1 : SLOTS, health: { ...health, breaker } }
}

/** Null when the breaker is closed or half-open. */
export function pausedUntil({ breaker }: EndpointHealth): Micros | null {
  return breaker.phase === 'open' ? microsOfMillis(breaker.untilMs) : null
}
