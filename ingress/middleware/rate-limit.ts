import type { Response } from 'express'
import { RateLimitedError } from '#shared/errors.ts'
import type { ProjectKey } from '#shared/monitoring/projects/store.ts'
import { secondsUntilToken, type TokenGrant, takeTokens } from '#shared/tenancy/rate-limits/store.ts'
import type { IngressDeps } from '../deps.ts'
import { perProcess } from './per-process.ts'

/** A project may use several keys at once, but not without end. */
const PROJECT_FACTOR = 5

/**
 * A bucket holds a minute's worth and regains a fiftieth each second, which is a fifth more than the limit: a hundred
 * requests spread over a minute never fail, however unevenly (monitoring behaviour 5.12).
 */
const SHARE_PER_SECOND = 1 / 50

/**
 * Counts a request against the limits of its key and of its project, which all processes share, and sets the
 * `RateLimit-*` headers.
 * @throws RateLimitedError
 */
export async function limitRate(key: ProjectKey, response: Response, deps: IngressDeps): Promise<void> {
  const limit = deps.config.apiRateLimitPerMinute
  if (limit === 0) return
  const taker = takers(deps)
  const [own, shared] = await Promise.all([
    taker.take(`key:${key.keyId}`, limit),
    taker.take(`project:${key.project.id}`, limit * PROJECT_FACTOR),
  ])
  const left = Math.max(0, Math.floor(own.left))
  response.setHeader('RateLimit-Limit', limit)
  response.setHeader('RateLimit-Remaining', left)
  response.setHeader('RateLimit-Reset', Math.ceil((limit - left) / (limit * SHARE_PER_SECOND)))
  const refusing = own.granted ? shared : own
  if (refusing.granted) return
  const capacity = refusing === own ? limit : limit * PROJECT_FACTOR
  const seconds = secondsUntilToken(refusing.left, capacity, SHARE_PER_SECOND)
  throw new RateLimitedError('too many requests, slow down', seconds)
}

interface Answer {
  granted: boolean
  left: number
}

interface Waiting {
  capacity: number
  waiters: { resolve: (answer: Answer) => void; reject: (error: unknown) => void }[]
}

const takers = perProcess((deps) => new TokenTaker(deps))

/** Asks for the tokens of all requests that wait in one statement; while it runs, the next ones gather. */
class TokenTaker {
  readonly #deps: IngressDeps
  #waiting = new Map<string, Waiting>()
  #running = false

  constructor(deps: IngressDeps) {
    this.#deps = deps
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
          this.#deps.db,
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
