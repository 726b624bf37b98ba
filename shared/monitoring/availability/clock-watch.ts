import { type Micros, microsOfSeconds } from '../../time.ts'

/** What a reading of the database's clock says. */
export type Reading =
  | { kind: 'steady' }
  /** the time in between did not pass for us: nobody knows what was in it */
  | { kind: 'forward'; from: Micros; until: Micros }
  | { kind: 'backward' }

/** More than this between two ticks is no drift. */
const MAX_JUMP: Micros = microsOfSeconds(5)

/** Compares the database's clock with the monotonic one of this process (docs/spec/alerting.md#coverage-gaps). */
export class ClockWatch {
  readonly #settle: Micros
  #last: { database: Micros; monotonic: Micros } | null = null
  #calmSince: Micros

  /** @param settle for how long nothing is judged after a start, a jump, or a time without the database */
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

  /** The database did not answer: what others have to store of that time comes first. */
  unsettle(monotonic: Micros): void {
    this.#calmSince = monotonic
  }

  isCalm(monotonic: Micros): boolean {
    return monotonic - this.#calmSince >= this.#settle
  }
}
