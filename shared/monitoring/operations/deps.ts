import type { Knex } from 'knex'
import type { CacheChange } from '../../contracts/ingress-messages.ts'
import type { Barriers } from '../../platform/broker/barrier.ts'
import type { Enqueue, Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { Micros } from '../../time.ts'

/** What operations are given beside the database; each names what it uses of it. Listeners have all of it. */
export interface OperationDeps {
  config: Pick<Config, 'allowPrivateTargets' | 'checkLimit' | 'publicUrl' | 'shellEnabled' | 'siteName' | 'smtpUrl'>
  secrets: Secrets
  /** null on the operator's command line, which vouches for the addresses of e-mail integrations: nobody is asked */
  outbox: Pick<Outbox, 'run'> | null
  barrier: Pick<Barriers, 'pass'>
  /** the database's time */
  now(): Micros
  /** tells every ingress process, after the change has committed */
  announce(change: CacheChange): void
}

/** Runs `work` in a transaction, with the outbox where there is one: `enqueue` is null on the command line. */
export async function inTransaction<T>(
  db: Knex,
  { outbox }: Pick<OperationDeps, 'outbox'>,
  work: (tx: Knex.Transaction, enqueue: Enqueue | null) => Promise<T>,
): Promise<T> {
  return outbox ? await outbox.run(work) : await transaction(db, (tx) => work(tx, null))
}
