import { LRUCache } from 'lru-cache'
import {
  admit,
  type Breaker,
  type BreakerRules,
  closedBreaker,
  recordFailure,
  recordSuccess,
} from '../../delivery/circuit-breaker.ts'

/** A pack has seconds: a registry that fails is left alone sooner, and tried again sooner, than a customer's endpoint. */
const rules: BreakerRules = { maxConsecutiveFailures: 5, maxOpenMs: 30_000 }
/** Breakers remembered: the least used are forgotten, which closes them. */
const MAX_BREAKERS = 20_000

/**
 * How a call ended: the registry answered, the registry itself failed (time-out, no connection, 5xx), or neither can be
 * said (the mistake was ours, or the pack's time was over before the registry's).
 */
export type CallEnd = 'answered' | 'failed' | 'unknown'

/**
 * The circuit breakers of a process: one for each organisation, environment and registry. What one organisation asks
 * may make a registry fail for that organisation alone, so its breaker holds nobody else back.
 */
export interface Breakers {
  /** Whether a call may go out now. @param nowMs since the epoch */
  admit(key: string, nowMs: number): boolean
  settle(key: string, end: CallEnd, nowMs: number): void
}

export function createBreakers(): Breakers {
  const states = new LRUCache<string, Breaker>({ max: MAX_BREAKERS })
  const stateOf = (key: string) => states.get(key) ?? closedBreaker
  return {
    admit(key, nowMs) {
      const { pass, breaker } = admit(stateOf(key), nowMs)
      if (breaker !== closedBreaker) states.set(key, breaker)
      return pass
    },
    settle(key, end, nowMs) {
      if (end === 'answered') states.set(key, recordSuccess(stateOf(key), nowMs))
      else if (end === 'failed') states.set(key, recordFailure(stateOf(key), nowMs, rules))
    },
  }
}
