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
  /** null on the command line, where recipients of e-mail integrations need not consent */
  outbox: Pick<Outbox, 'run'> | null
  barrier: Pick<Barriers, 'pass'>
  now(): Micros
  /** invalidates the caches of every ingress process, after the commit */
  announce(change: CacheChange): void
}

/** `enqueue` is null on the command line, which has no outbox. */
export async function inTransaction<T>(
  db: Knex,
  { outbox }: Pick<OperationDeps, 'outbox'>,
  work: (tx: Knex.Transaction, enqueue: Enqueue | null) => Promise<T>,
): Promise<T> {
  return outbox ? await outbox.run(work) : await transaction(db, (tx) => work(tx, null))
}
