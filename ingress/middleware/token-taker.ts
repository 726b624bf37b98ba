import type { Knex } from 'knex'
import { batched } from '#shared/platform/process/batch.ts'
import { type TokenRequest, takeTokens } from '#shared/tenancy/rate-limits/store.ts'

/**
 * A bucket holds one minute's requests and refills by 1/50 each second, a fifth more than the limit. Requests within
 * the limit never fail, however uneven their spacing (docs/spec/monitoring.md#api-rate-limit).
 */
export const SHARE_PER_SECOND = 1 / 50

interface Answer {
  granted: boolean
  left: number
}

interface Requested {
  bucket: string
  capacity: number
}

const MAX_BATCH = 10_000

/** Takes the tokens of all waiting requests in one statement; later requests form the next batch. */
export class TokenTaker {
  readonly #takeBatched: (requested: Requested) => Promise<Answer>

  constructor(db: Knex) {
    // The start is a microtask, so that both buckets of a request share a batch.
    this.#takeBatched = batched((requested) => takeAll(db, requested), { largest: MAX_BATCH, start: queueMicrotask })
  }

  async take(bucket: string, capacity: number): Promise<Answer> {
    return await this.#takeBatched({ bucket, capacity })
  }
}

/** Grants in order of arrival, so `left` is smaller for later requests. */
async function takeAll(db: Knex, requested: readonly Requested[]): Promise<Answer[]> {
  const requests = new Map<string, TokenRequest>()
  for (const { bucket, capacity } of requested) {
    const request = requests.get(bucket)
    if (request) request.wanted += 1
    else requests.set(bucket, { bucket, capacity, wanted: 1 })
  }
  const grants = new Map(
    (await takeTokens(db, [...requests.values()], SHARE_PER_SECOND)).map((grant) => [grant.bucket, grant]),
  )
  const given = new Map<string, number>()
  return requested.map(({ bucket }) => {
    const { granted, left } = grants.get(bucket) ?? { granted: 0, left: 0 }
    const before = given.get(bucket) ?? 0
    given.set(bucket, before + 1)
    return before < granted ? { granted: true, left: left + granted - before - 1 } : { granted: false, left }
  })
}
