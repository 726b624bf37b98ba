import type { Knex } from 'knex'
import { execute } from '../platform/sql.ts'

/** Forgets the attempts counted in a bucket: who succeeded was not guessing. */
export async function forgetAttempts(db: Knex, bucket: string): Promise<void> {
  await execute(db, 'DELETE FROM rate_limits WHERE bucket = ?', [bucket])
}
