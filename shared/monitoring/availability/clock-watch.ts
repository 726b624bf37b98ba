import { type Micros, microsOfSeconds } from '../../time.ts'

export type Reading =
  | { kind: 'steady' }
  /** the time in between did not pass on the monotonic clock, so pings of it are unknown */
  | { kind: 'forward'; from: Micros; until: Micros }
  | { kind: 'backward' }

/** A larger difference between two ticks is a jump, not drift. */
const MAX_JUMP: Micros = microsOfSeconds(5)

/** Compares the database's clock with the monotonic clock of this process (docs/spec/alerting.md#coverage-gaps). */
export class ClockWatch {
  readonly #settle: Micros
  #last: { database: Micros; monotonic: Micros } | null = null
  #calmSince: Micros

  /** @param settle no sweep for this long after a start, a jump or an outage of the database */
  constructor(settle: Micros, monotonic: Micros) {
    this.#settle = settle
    this.#calmSince = monotonic
  }

  observe(database: Micros, monotonic: Micros): Reading {
    const last = this.#last
    this.#last = { database, monotonic }
    if (!last) return { kind: 'steady' }
    const jump = database - last.database - (monotonic - last.monotonic)
    if (Math.abs(jump) <= MAX_JUMP) return { kind: 'steady' }
    this.unsettle(monotonic)
    return jump > 0 ? { kind: 'forward', from: last.database, until: database } : { kind: 'backward' }
  }

  /** Other processes must first store their proofs of the outage. */
  unsettle(monotonic: Micros): void {
    this.#calmSince = monotonic
  }

  isCalm(monotonic: Micros): boolean {
    return monotonic - this.#calmSince >= this.#settle
  }
}
