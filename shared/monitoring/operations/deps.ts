import type { Knex } from 'knex'
import type { CacheChange } from '../../contracts/ingress-messages.ts'
import type { Barriers } from '../../platform/broker/barrier.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { Micros } from '../../time.ts'

export interface OperationDeps {
  config: Pick<Config, 'allowPrivateTargets' | 'checkLimit' | 'publicUrl' | 'shellEnabled' | 'siteName' | 'smtpUrl'>
  secrets: Secrets
  /** null on the operator's command line, where recipients of e-mail integrations need not consent */
  outbox: Pick<Outbox, 'run'> | null
  barrier: Pick<Barriers, 'pass'>
  /** time of the database */
  now(): Micros
  /** invalidates the caches of every ingress process; call it after the commit */
  announce(change: CacheChange): void
}

/** Runs `work` in a transaction. `enqueue` is null on the command line, which has no outbox. */
export async function inTransaction<T>(
  db: Knex,
  { outbox }: Pick<OperationDeps, 'outbox'>,
  work: (tx: Knex.Transaction, enqueue: Enqueue | null) => Promise<T>,
): Promise<T> {
  return outbox ? await outbox.run(work) : await transaction(db, (tx) => work(tx, null))
}
