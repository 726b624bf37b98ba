import type { Knex } from 'knex'
import { type TokenGrant, takeTokens } from '#shared/tenancy/rate-limits/store.ts'

/**
 * A bucket holds a minute's worth and regains a fiftieth each second, which is a fifth more than the limit: a hundred
 * requests spread over a minute never fail, however unevenly (monitoring behaviour 5.12).
 */
export const SHARE_PER_SECOND = 1 / 50

interface Answer {
  granted: boolean
  left: number
}

interface Waiting {
  capacity: number
  waiters: { resolve: (answer: Answer) => void; reject: (error: unknown) => void }[]
}

/** Asks for the tokens of all requests that wait in one statement; while it runs, the next ones gather. */
export class TokenTaker {
  readonly #db: Knex
  #waiting = new Map<string, Waiting>()
  #running = false

  constructor(db: Knex) {
    this.#db = db
  }

  take(bucket: string, capacity: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const entry = this.#waiting.get(bucket) ?? { capacity, waiters: [] }
      entry.waiters.push({ resolve, reject })
      this.#waiting.set(bucket, entry)
      if (!this.#running) {
        this.#running = true
        // The other bucket of this request, and other requests of this turn, come along.
        queueMicrotask(() => void this.#run())
      }
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0) {
      const asked = this.#waiting
      this.#waiting = new Map()
      try {
        const grants = await takeTokens(
          this.#db,
          [...asked].map(([bucket, { capacity, waiters }]) => ({ bucket, capacity, wanted: waiters.length })),
          SHARE_PER_SECOND,
        )
        for (const grant of grants) settle(grant, asked.get(grant.bucket)?.waiters ?? [])
      } catch (error) {
        for (const { waiters } of asked.values()) for (const waiter of waiters) waiter.reject(error)
      }
    }
    this.#running = false
  }
}

/** First come, first served; who comes later is notified of fewer tokens left. */
function settle(grant: TokenGrant, waiters: Waiting['waiters']): void {
  for (const [index, waiter] of waiters.entries()) {
    const granted = index < grant.granted
    waiter.resolve({ granted, left: granted ? grant.left + grant.granted - index - 1 : grant.left })
  }
}
