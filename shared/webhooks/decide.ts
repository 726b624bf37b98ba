import { recordFailure, recordSuccess } from '../delivery/circuit-breaker.ts'
import type { Outcome } from '../delivery/outcome.ts'
import { nextAttemptInMs, webhookRetries } from '../delivery/retry-schedule.ts'
import { type Micros, microsOfMillis, toMillis } from '../time.ts'
import type { EndpointHealth } from './endpoint.ts'

/** An endpoint is disabled after this time and this many failed attempts (docs/spec/transparency.md#webhook-delivery). */
const FAILING_HOURS = 120
const FAILING_ATTEMPTS = 20
const MICROS_PER_HOUR = 3_600_000_000

export interface EndedAttempt {
  outcome: Outcome
  /** number of the attempt since the retry schedule last started, from 1 */
  attemptInSchedule: number
  random: number
  at: Micros
}

export interface Decision {
  delivery: 'DELIVERED' | 'PENDING' | 'FAILED' | 'EXHAUSTED'
  nextAttemptAt: Micros | null
  health: EndpointHealth
}

/** The retry schedule determines the state of the delivery; the duration of failures that of the endpoint. */
export function decide(health: EndpointHealth, attempt: EndedAttempt): Decision {
  const { outcome, at } = attempt
  if (outcome.result === 'delivered') {
    const breaker = recordSuccess(health.breaker, toMillis(at))
    const healthy = { ...health, breaker, failures: 0, failingSince: null, lastSuccessAt: at }
    return { delivery: 'DELIVERED', nextAttemptAt: null, health: healthy }
  }
  const failed = switchedOff(
    {
      ...health,
      breaker: recordFailure(health.breaker, toMillis(at)),
      failures: health.failures + 1,
      failingSince: health.failingSince ?? at,
    },
    outcome,
    at,
  )
  if (outcome.result === 'permanent' || isForbiddenAddress(outcome)) {
    return { delivery: 'FAILED', nextAttemptAt: null, health: failed }
  }
  const waitMs = nextAttemptInMs(webhookRetries, outcome, attempt.attemptInSchedule, attempt.random)
  if (waitMs === null) return { delivery: 'EXHAUSTED', nextAttemptAt: null, health: failed }
  return { delivery: 'PENDING', nextAttemptAt: at + microsOfMillis(waitMs), health: failed }
}

function switchedOff(health: EndpointHealth, outcome: Outcome, at: Micros): EndpointHealth {
  if (health.state !== 'ACTIVE') return health
  if (outcome.result === 'permanent') return { ...health, state: 'DISABLED_FAILING', reason: 'GONE' }
  if (isForbiddenAddress(outcome)) return { ...health, state: 'BLOCKED', reason: 'ADDRESS' }
  const failingFor = at - (health.failingSince ?? at)
  const isHopeless = failingFor >= FAILING_HOURS * MICROS_PER_HOUR && health.failures >= FAILING_ATTEMPTS
  return isHopeless ? { ...health, state: 'DISABLED_FAILING', reason: 'FAILING' } : health
}

/** No attempt can succeed until the address changes. */
function isForbiddenAddress(outcome: Outcome): boolean {
  return outcome.result !== 'delivered' && (outcome.failure === 'blocked' || outcome.failure === 'config')
}
