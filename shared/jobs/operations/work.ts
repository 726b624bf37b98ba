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

/** Receives the replies of workers to the requests that wait for them. A reply may be lost. */
export interface Replies {
  /** the queue of this process that workers reply to */
  readonly replyTo: string
  /** @returns the content of the reply about this id; null after the timeout */
  wait(id: string, timeoutMs: number): Promise<Buffer | null>
}

/** Work of a worker that a caller requests once, and may wait for. */
interface Work {
  id: string
  once: IdempotentRequest
  /** the answer while the work is not finished */
  provisional: StoredAnswer
  /** 0 if the caller does not wait */
  waitMs: number
  /** aborted when the caller has gone; the work is done all the same */
  signal?: AbortSignal | undefined
}

/** The transaction that stores a row of work, and the queue to which its worker replies; undefined if no caller waits. */
interface WorkTransaction extends Pick<RunPrepared, 'tx' | 'writes'> {
  enqueue: Enqueue
  replyTo: string | undefined
}

/**
 * Stores work with its idempotency key and its message in one transaction.
 * @param store inserts the row and enqueues the message; a replay does not call it
 * @returns the stored answer of an equal request; undefined if the work is stored now
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
 * Waits for work, whose worker stores its result as the answer under the key. At the deadline the provisional answer
 * becomes the answer, unless the worker was faster.
 * @param find reads the result; undefined while the work is not finished
 * @param work without `once` if the work has no idempotency key
 * @returns undefined if the provisional answer is the answer
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
