import type { Request } from 'express'
import type { Knex } from 'knex'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import {
  IdempotencyInProgressError,
  IdempotencyKeyRequiredError,
  IdempotencyKeyReusedError,
} from '#shared/tenancy/idempotency/errors.ts'
import { isIdempotencyKey } from '#shared/tenancy/idempotency/fingerprint.ts'
import { type KeyScope, openKey, type StoredAnswer, storeAnswer } from '#shared/tenancy/idempotency/store.ts'
import type { IngressDeps } from '../deps.ts'
import type { Caller } from './authenticate.ts'

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

export function keyScope(caller: Caller, key: string): KeyScope {
  return { organisationId: caller.organisationId, env: caller.env, key }
}

/** A request that is to be executed once: its key, and what it asks for. */
export interface Once {
  scope: KeyScope
  fingerprint: Buffer
}

/**
 * Looks the key up inside the transaction of the effect.
 * @returns the stored answer, marked as a replay; undefined when the request is to be executed now
 * @throws IdempotencyInProgressError, IdempotencyKeyReusedError
 */
export async function findReplay(
  tx: Knex.Transaction,
  scope: KeyScope,
  fingerprint: Buffer,
): Promise<StoredAnswer | undefined> {
  const known = await openKey(tx, scope, fingerprint)
  if (known.state === 'in-progress') throw new IdempotencyInProgressError(known.retryAfterSeconds)
  if (known.state === 'reused') throw new IdempotencyKeyReusedError()
  if (known.state === 'free') return undefined
  return { ...known.answer, headers: { ...known.answer.headers, 'Idempotent-Replayed': 'true' } }
}

/**
 * Executes a request once: its effect, its messages and its answer commit together, and an equal request gets the
 * same bytes. What `work` throws is not stored, so a refused request may be corrected under the same key.
 */
export async function answerOnce(
  deps: IngressDeps,
  once: Once & { retentionDays: number },
  work: (tx: Knex.Transaction, enqueue: Enqueue) => Promise<StoredAnswer>,
): Promise<StoredAnswer> {
  return await deps.outbox.run(async (tx, enqueue) => {
    const replay = await findReplay(tx, once.scope, once.fingerprint)
    if (replay) return replay
    const answer = await work(tx, enqueue)
    await storeAnswer(tx, once.scope, once.fingerprint, answer, once.retentionDays)
    return answer
  })
}
