import type { Knex } from 'knex'
import { execute } from '../../platform/database/sql.ts'

export async function forgetAttempts(db: Knex, buckets: readonly string[]): Promise<void> {
  await execute(db, 'DELETE FROM rate_limits WHERE bucket = ANY(?::text[])', [buckets])
}
