/** What ended so long ago counts little any more. */
const MEMORY_MS = 2_000
/** Until a target has shown its pace it counts as one that took so many within so long. */
const FIRST_GUESS = { busyMs: 200, ended: 240 }

/**
 * How fast a target takes attempts while some wait for it: the time between two that end, over the last seconds. How
 * long each of them takes says less: while a crowd arrives, most of it is the notifier's own work, and a few dozen that
 * end together would pass for a slow target.
 */
export class Throughput {
  #busyMs = FIRST_GUESS.busyMs
  #ended = FIRST_GUESS.ended
  /** since when attempts have been waiting and none has ended; null while none waits */
  #since: number | null = null

  /** An attempt has to wait. @param now monotonic milliseconds, here and below */
  waits(now: number): void {
    this.#since ??= now
  }

  /** An attempt has ended. @param isWaiting whether others still wait */
  ended(now: number, isWaiting: boolean): void {
    if (this.#since !== null) {
      const busyMs = now - this.#since
      const kept = Math.exp(-busyMs / MEMORY_MS)
      this.#busyMs = this.#busyMs * kept + busyMs
      this.#ended = this.#ended * kept + 1
    }
    this.#since = isWaiting ? now : null
  }

  /** Milliseconds from the end of one to the end of the next. */
  get intervalMs(): number {
    return this.#busyMs / this.#ended
  }
}
