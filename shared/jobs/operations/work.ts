import type { Knex } from 'knex'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { preparedRead, type RunPrepared } from '../../platform/database/prepared.ts'
import {
  findReplay,
  type IdempotentRequest,
  leaseKey,
  type StoredAnswer,
  settleKey,
  storeAnswer,
} from '../../tenancy/idempotency/store.ts'

export interface Replies {
  readonly replyTo: string
  wait(id: string, timeoutMs: number): Promise<Buffer | null>
}

interface Work {
  id: string
  once: IdempotentRequest
  provisional: StoredAnswer
  waitMs: number
  /** aborted when the caller disconnects; this does not stop the work */
  signal?: AbortSignal | undefined
}

interface WorkTransaction extends Pick<RunPrepared, 'tx' | 'writes'> {
  enqueue: Enqueue
  /** queue of the caller; undefined if it does not wait */
  replyTo: string | undefined
}

/**
 * Calls `store` for a new request, and returns undefined. For a repeated request it returns the stored answer.
 * @throws IdempotencyInProgressError, IdempotencyKeyReusedError, errors of `store`
 */
export async function startWork(
  { outbox, replies }: { outbox: Pick<Outbox, 'runPrepared'>; replies: Pick<Replies, 'replyTo'> },
  { once, provisional, waitMs }: Pick<Work, 'once' | 'provisional' | 'waitMs'>,
  store: (transaction: WorkTransaction) => Promise<void>,
): Promise<StoredAnswer | undefined> {
  return await outbox.runPrepared(async ({ tx, writes }, enqueue) => {
    const replay = await findReplay(tx, once)
    if (replay) return replay
    await store({ tx, writes, enqueue, replyTo: waitMs === 0 ? undefined : replies.replyTo })
    if (waitMs === 0) await storeAnswer(writes, once.scope, once.fingerprint, provisional)
    else await leaseKey(writes, once.scope, once.fingerprint, provisional)
    return undefined
  })
}

/** Interval of reads while waiting, because a reply may be lost. */
const POLL_INTERVAL_MS = 1_000

/**
 * Waits for the result of the work. If the deadline passes first, it stores the provisional answer under the
 * idempotency key and returns undefined. `once` is absent for work without an idempotency key.
 */
export async function awaitWork<Result>(
  { db, replies }: { db: Knex; replies: Pick<Replies, 'wait'> },
  { id, once, waitMs, signal }: Pick<Work, 'id' | 'waitMs' | 'signal'> & { once?: Pick<IdempotentRequest, 'scope'> },
  find: (db: Knex) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const deadline = performance.now() + waitMs
  for (let left = waitMs; left > 0; left = deadline - performance.now()) {
    await replies.wait(id, Math.min(left, POLL_INTERVAL_MS))
    signal?.throwIfAborted()
    const result = await preparedRead(db, find)
    if (result !== undefined) return result
  }
  if (once === undefined || waitMs === 0 || (await settleKey(db, once.scope))) return undefined
  return await find(db)
}
