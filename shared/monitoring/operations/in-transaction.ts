import type { Knex } from 'knex'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { OperationDeps } from './deps.ts'

/** Runs `work` in a transaction, with the outbox where there is one: `enqueue` is null on the command line. */
export async function inTransaction<T>(
  db: Knex,
  { outbox }: Pick<OperationDeps, 'outbox'>,
  work: (tx: Knex.Transaction, enqueue: Enqueue | null) => Promise<T>,
): Promise<T> {
  return outbox ? await outbox.run(work) : await transaction(db, (tx) => work(tx, null))
}
