import type { Knex } from 'knex'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import {
  findReplay,
  type IdempotentRequest,
  type KeyScope,
  type StoredAnswer,
  storeAnswer,
} from '../idempotency/store.ts'

export function keyScope(caller: Omit<KeyScope, 'key'>, key: string): KeyScope {
  return { organisationId: caller.organisationId, env: caller.env, key }
}

/**
 * Effect, messages and answer commit together, and an equal request gets the same bytes. Errors of `work` are not
 * stored, so a refused request may be corrected under the same key.
 */
export async function answerOnce(
  deps: { outbox: Pick<Outbox, 'run'> },
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
