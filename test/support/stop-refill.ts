import type { Knex } from 'knex'
import { execute } from '#shared/platform/database/sql.ts'

/**
 * Stops a bucket of a limit from refilling for an hour: its remaining tokens are then constant, however long a busy
 * machine takes. @throws Error if the bucket is unused
 */
export async function stopRefill(db: Knex, bucket: string): Promise<void> {
  const count = await execute(db, `UPDATE rate_limits SET updated_at = now() + interval '1 hour' WHERE bucket = ?`, [
    bucket,
  ])
  if (count !== 1) throw new Error(`there is no bucket ${bucket}`)
}
