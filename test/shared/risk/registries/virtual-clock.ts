/**
 * A clock that stops while code runs and jumps to the next awaited instant afterwards, so that tests of long timeouts
 * are fast and deterministic.
 */
export class VirtualClock {
  #now: number
  #pending: { at: number; wake: () => void }[] = []
  #isPumping = false
  readonly sleeps: number[] = []

  constructor(now: number) {
    this.#now = now
  }

  now = (): number => this.#now

  advance(ms: number): void {
    this.#now += ms
  }

  sleep = (delayMs: number, signal: AbortSignal): Promise<void> => {
    this.sleeps.push(delayMs)
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const entry = { at: this.#now + delayMs, wake: resolve }
      this.#pending.push(entry)
      signal.addEventListener('abort', () => {
        this.#pending = this.#pending.filter((other) => other !== entry)
        resolve()
      })
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    // One iteration of the event loop runs everything that is ready before the time changes.
    setImmediate(() => {
      this.#isPumping = false
      const next = this.#pending.toSorted((a, b) => a.at - b.at)[0]
      if (!next) return
      this.#pending = this.#pending.filter((other) => other !== next)
      this.#now = Math.max(this.#now, next.at)
      next.wake()
      this.#pump()
    })
  }
}
