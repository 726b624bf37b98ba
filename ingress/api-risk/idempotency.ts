import type { Request } from 'express'
import type { Knex } from 'knex'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import type { Owner } from '#shared/risk/jobs/job.ts'
import {
  findReplay,
  IdempotencyKeyRequiredError,
  type IdempotentRequest,
  isIdempotencyKey,
  type KeyScope,
  type StoredAnswer,
  storeAnswer,
} from '#shared/tenancy/idempotency/store.ts'
import type { IngressDeps } from '../deps.ts'

/** @throws IdempotencyKeyRequiredError when it is missing or malformed */
export function readIdempotencyKey(request: Request): string {
  const key = request.headers['x-idempotency-key']
  if (typeof key !== 'string' || key === '') {
    throw new IdempotencyKeyRequiredError('the header x-idempotency-key is required')
  }
  if (!isIdempotencyKey(key)) {
    throw new IdempotencyKeyRequiredError('x-idempotency-key must be 1 to 255 visible ASCII characters')
  }
  return key
}

export function keyScope(caller: Owner, key: string): KeyScope {
  return { organisationId: caller.organisationId, env: caller.env, key }
}

/**
 * Executes a request once: its effect, its messages and its answer commit together, and an equal request gets the
 * same bytes. What `work` throws is not stored, so a refused request may be corrected under the same key.
 */
export async function answerOnce(
  deps: IngressDeps,
  once: IdempotentRequest & { retentionDays: number },
  work: (tx: Knex.Transaction, enqueue: Enqueue) => Promise<StoredAnswer>,
): Promise<StoredAnswer> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const replay = await findReplay(tx, once)
    if (replay) return replay
    const answer = await work(tx, enqueue)
    await storeAnswer(tx, once.scope, once.fingerprint, answer, once.retentionDays)
    return answer
  })
}
