import { LRUCache } from 'lru-cache'
import {
  admit,
  type Breaker,
  type BreakerRules,
  closedBreaker,
  recordFailure,
  recordSuccess,
} from '../../delivery/circuit-breaker.ts'

/** A pack must be ready within seconds, so these breakers open earlier and for less time than those of endpoints. */
const rules: BreakerRules = { maxConsecutiveFailures: 5, maxOpenMs: 30_000 }
/** Least recently used breakers are dropped, which closes them. */
const MAX_BREAKERS = 20_000

/** `failed`: timeout, no connection or 5xx. `unknown`: our own error, or the end of the pack's budget. */
export type CallEnd = 'answered' | 'failed' | 'unknown'

/** Breakers per organisation, environment and registry make organisations independent. */
export interface Breakers {
  /** `nowMs` is since the epoch. */
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
