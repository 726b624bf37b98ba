import type { Knex } from 'knex'
import { type Micros, microsOfMillis, microsOfSeconds, monotonicMicros, nowMicros, toSeconds } from '../../time.ts'
import { readServerClock } from '../database/server.ts'
import { describeError, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/**
 * Estimates the time of the database, so that all processes agree: the monotonic time of the process plus a measured
 * offset.
 */
export interface Clock {
  /** microseconds since the epoch; once set, it never decreases */
  now(): Micros
  isSet(): Promise<void>
  /** the time of this clock minus the wall clock of the machine */
  offset(): Micros
  problems(): string[]
}

const MEASURE_EVERY_MS = 10_000
const RETRY_AFTER_MS = 1_000
/** Maximum readings of one measurement; the quickest is the most exact. */
const READINGS = 5
/** A reading with narrower bounds ends its measurement. */
const EXACT_ENOUGH: Micros = microsOfMillis(1)
/** Corrections move the offset by at most this share of the elapsed time, so that the clock never runs backwards. */
const SLEW = 0.1
/** Measurements that differ by more mean that a clock was set, or that the machine slept. */
const MAX_STEP: Micros = microsOfSeconds(1)
/** A larger difference is logged, because log entries have the time of the wall clock. */
const MAX_WALL_OFFSET: Micros = microsOfSeconds(5)

/** The offset between monotonic and database time lies between the two values. */
interface Bounds {
  low: Micros
  high: Micros
}

/** Without the database it keeps the last offset. `skewMs` is for tests: the error of the wall clock. */
export function openClock(db: Knex, options: { skewMs: number; log: Log; metrics: Metrics }): Clock & AsyncDisposable {
  const { log, metrics } = options
  const wall = (): Micros => nowMicros() + microsOfMillis(options.skewMs)
  const set = Promise.withResolvers<void>()
  const setting = new ClockSetting(wall() - monotonicMicros())
  let isFar = false
  let timer: NodeJS.Timeout | null = null
  let measuring: Promise<void> = Promise.resolve()
  let isClosing = false

  const offset = () => setting.now(monotonicMicros()) - wall()
  metrics.clockOffset.read((gauge) => gauge.set(toSeconds(offset())))

  async function measure(): Promise<void> {
    try {
      setting.heed(await readBounds(db), monotonicMicros())
      set.resolve()
      reportOffset()
    } catch (error) {
      log.debug(describeError(error), 'clock.not-read')
    }
    if (isClosing) return
    timer = setTimeout(again, setting.isSteady ? MEASURE_EVERY_MS : RETRY_AFTER_MS)
    timer.unref()
  }

  function again(): void {
    measuring = measure()
  }

  function reportOffset(): void {
    const wasFar = isFar
    isFar = Math.abs(offset()) > MAX_WALL_OFFSET
    if (isFar === wasFar) return
    const seconds = toSeconds(offset())
    if (isFar) log.warn({ offsetSeconds: seconds }, 'clock.differs-from-database')
    else log.info({ offsetSeconds: seconds }, 'clock.agrees-with-database')
  }

  again()
  return {
    now: () => setting.now(monotonicMicros()),
    isSet: () => set.promise,
    offset,
    problems: () => setting.problems(monotonicMicros()),
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      await measuring
    },
  }
}

/** `monotonic` is in microseconds of monotonic time. No IO. */
export class ClockSetting {
  #offset: Micros
  #target: Micros
  #movedAt: Micros = 0
  #isSet = false
  #unconfirmed: Bounds | null = null

  constructor(offset: Micros) {
    this.#offset = offset
    this.#target = offset
  }

  get isSteady(): boolean {
    return this.#isSet && this.#unconfirmed === null
  }

  now(monotonic: Micros): Micros {
    const backlog = this.#target - this.#offset
    if (backlog !== 0) {
      const step = Math.min(Math.abs(backlog), (monotonic - this.#movedAt) * SLEW)
      this.#offset += Math.sign(backlog) * step
    }
    this.#movedAt = monotonic
    return Math.floor(monotonic + this.#offset)
  }

  /**
   * Moves the target into the measured bounds, and no further. A move of more than a second needs a second measurement
   * that confirms it. The first measurement sets the clock.
   */
  heed(bounds: Bounds, monotonic: Micros): void {
    if (!this.#isSet) {
      this.#isSet = true
      this.#offset = (bounds.low + bounds.high) / 2
      this.#target = this.#offset
      return
    }
    // Applies the previous correction up to now.
    this.now(monotonic)
    const target = within(bounds, this.#target)
    if (Math.abs(target - this.#target) <= MAX_STEP) {
      this.#unconfirmed = null
      this.#target = target
      return
    }
    const isConfirmed = this.#unconfirmed !== null && Math.abs(within(this.#unconfirmed, target) - target) <= MAX_STEP
    this.#unconfirmed = isConfirmed ? null : bounds
    if (!isConfirmed) return
    // The clock may jump forwards, because the machine slept or the database was set. To go back it only runs slower.
    if (target > this.#offset) this.#offset = target
    this.#target = target
  }

  problems(monotonic: Micros): string[] {
    if (!this.#isSet) return ['clock: not yet set by the database']
    if (this.#unconfirmed !== null) return ['clock: the last two measurements of the database differ by over 1 s']
    this.now(monotonic)
    const backlog = Math.abs(this.#target - this.#offset)
    return backlog > MAX_STEP ? [`clock: ${Math.ceil(toSeconds(backlog))} s away from the database`] : []
  }
}

function within({ low, high }: Bounds, value: Micros): Micros {
  return Math.min(high, Math.max(low, value))
}

async function readBounds(db: Knex): Promise<Bounds> {
  let best: Bounds | null = null
  for (let reading = 0; reading < READINGS; reading++) {
    const requested = monotonicMicros()
    const now = await readServerClock(db)
    const bounds = { low: now - monotonicMicros(), high: now - requested }
    if (best === null || bounds.high - bounds.low < best.high - best.low) best = bounds
    if (best.high - best.low < EXACT_ENOUGH) break
  }
  if (best === null) throw new Error('the database did not return its time')
  return best
}
