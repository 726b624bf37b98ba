import type { Knex } from 'knex'
import { execute } from './sql.ts'

/** Days for which a message is recognised as a copy; longer than any message can be under way. */
export const DEDUPLICATION_DAYS = 7

/**
 * Records in the transaction of its effect that a consumer handled a message.
 * @returns false when it was handled before: then there is nothing left to do
 */
export async function recordOnce(tx: Knex, consumer: string, messageId: string): Promise<boolean> {
  const rowCount = await execute(
    tx,
    'INSERT INTO message_ledger (consumer, message_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
    [consumer, messageId],
  )
  return rowCount === 1
}

/** Forgets messages past the horizon, some thousand at a time. @returns how many */
export async function pruneLedger(db: Knex, limit: number): Promise<number> {
  const rowCount = await execute(
    db,
    `DELETE FROM message_ledger WHERE ctid IN (
       SELECT ctid FROM message_ledger WHERE recorded_at < now() - make_interval(days => ?) LIMIT ?)`,
    [DEDUPLICATION_DAYS, limit],
  )
  return rowCount
}
