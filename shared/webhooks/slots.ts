import { admit } from '../delivery/circuit-breaker.ts'
import { type Micros, microsOfMillis, toMillis } from '../time.ts'
import type { EndpointHealth } from './endpoint.ts'

/** Attempts under way at one endpoint, over all processes (docs/spec/transparency.md#webhook-delivery). */
export const SLOTS = 4
/** An endpoint that failed this often in a row has one slot: it may be hanging, and every slot is then held to its deadline. */
const DOUBTFUL_AFTER = 3

export interface Slots {
  count: number
  /** health to store if an attempt is made: a half-open breaker remembers its probe */
  health: EndpointHealth
}

/** How many attempts an endpoint may have under way now; none while its breaker is open or it is not active. */
export function slotsOf(health: EndpointHealth, at: Micros): Slots {
  if (health.state !== 'ACTIVE') return { count: 0, health }
  const { pass, breaker } = admit(health.breaker, toMillis(at))
  if (!pass) return { count: 0, health }
  const isCareful = breaker.phase === 'half-open' || breaker.consecutiveFailures >= DOUBTFUL_AFTER
  return { count: isCareful ? 1 : SLOTS, health: { ...health, breaker } }
}

/** Until when the breaker lets nothing through; null when it does. */
export function pausedUntil({ breaker }: EndpointHealth): Micros | null {
  return breaker.phase === 'open' ? microsOfMillis(breaker.untilMs) : null
}
