import type { Knex } from 'knex'
import { execute } from '../platform/database/sql.ts'

/** Until then deliveries can be replayed. */
export const DELIVERY_DAYS = 90
export const ANSWER_DAYS = 30

/** Deletes ended deliveries; their events stay. Returns their number. */
export async function pruneDeliveries(db: Knex, at: Date, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM webhook_deliveries WHERE id IN (
       SELECT id FROM webhook_deliveries
       WHERE created_at < ?::timestamptz - make_interval(days => ?) AND state <> 'PENDING' LIMIT ?)`,
    [at, DELIVERY_DAYS, limit],
  )
}

/** The attempts stay. Returns their number. */
export async function pruneAnswers(db: Knex, at: Date, limit: number): Promise<number> {
  return await execute(
    db,
    `UPDATE webhook_attempts SET response = NULL WHERE (delivery_id, n) IN (
       SELECT delivery_id, n FROM webhook_attempts
       WHERE started_at < ?::timestamptz - make_interval(days => ?) AND response IS NOT NULL LIMIT ?)`,
    [at, ANSWER_DAYS, limit],
  )
}
