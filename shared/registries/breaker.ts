/** A circuit breaker as a value: opened by consecutive failures, tried again by one call after a pause. */
export interface BreakerState {
  failures: number
  /** Milliseconds since the epoch; null while closed. */
  openUntil: number | null
}

export const closedBreaker: BreakerState = { failures: 0, openUntil: null }

const FAILURES_TO_OPEN = 5
const OPEN_MS = 30_000

/** Whether a call may go out now. After the pause one call is let through by pushing the next trial ahead. */
export function admit(state: BreakerState, now: number): { isAdmitted: boolean; state: BreakerState } {
  if (state.openUntil === null) return { isAdmitted: true, state }
  if (now < state.openUntil) return { isAdmitted: false, state }
  return { isAdmitted: true, state: { ...state, openUntil: now + OPEN_MS } }
}

/** The state after a call. Only conditions of the registry itself (no answer, 5xx) count as failures. */
export function settle(state: BreakerState, hasFailed: boolean, now: number): BreakerState {
  if (!hasFailed) return closedBreaker
  const failures = state.failures + 1
  return { failures, openUntil: failures >= FAILURES_TO_OPEN ? now + OPEN_MS : null }
}

/** The breakers of a process, one per registry and environment. */
export interface Breakers {
  get(name: string): BreakerState
  set(name: string, state: BreakerState): void
}

export function createBreakers(): Breakers {
  const states = new Map<string, BreakerState>()
  return {
    get: (name) => states.get(name) ?? closedBreaker,
    set: (name, state) => {
      states.set(name, state)
    },
  }
}
