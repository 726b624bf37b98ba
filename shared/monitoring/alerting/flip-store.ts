import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { FlipReason } from '../notifications/notification.ts'

/** A flip without a decision; its row is locked by this transaction. */
export interface WaitingFlip {
  id: number
  checkId: number
  at: Micros
  to: 'up' | 'down'
  reason: FlipReason
}

/**
 * Returns a condition that is true if a flip needs a notification: for one day, and afterwards while its check still
 * has that status. `checks` must be joined.
 * @param flip its alias
 */
export const isNews = (flip: string) => `(${flip}.at > now() - interval '1 day' OR checks.status = ${flip}.to_status)`

/**
 * Returns a condition that is true if a check has a waiting flip. `checks` must be joined. It reads all flips of that
 * check instead of the index of waiting flips: statistics show that index as empty, so PostgreSQL would scan it
 * completely for each of 100,000 checks that went down together. Therefore the condition must not match that index, and
 * OFFSET 0 keeps one subquery per check.
 * @param checkId the column with the id of the check
 * @param also a further condition on the flip, `waiting`
 */
export const hasWaitingFlip = (checkId: string, also = 'true') => `EXISTS (
  SELECT 1 FROM flips waiting
  WHERE waiting.check_id = ${checkId} AND coalesce(waiting.processed_at, 'infinity') = 'infinity'
    AND ${isNews('waiting')} AND ${also} OFFSET 0)`

const WAITING_FLIP_COLUMNS = columns<WaitingFlip>({
  id: 'flips.id',
  checkId: 'flips.check_id',
  at: microsOf('flips.at'),
  to: 'flips.to_status',
  reason: 'flips.reason',
})

/**
 * Claims flips until the end of the transaction, the oldest first. A flip is claimed only if no earlier flip of its
 * check waits, so that the flips of a check are processed in order, even with several alerters. Skips locked rows. The
 * checks are locked against deletion. Call it in the order of the index (`inIndexOrder`).
 */
export async function claimFlips(tx: Knex, limit: number): Promise<WaitingFlip[]> {
  return await query(
    tx,
    typed`SELECT ${WAITING_FLIP_COLUMNS} FROM flips JOIN checks ON checks.id = flips.check_id
     WHERE flips.processed_at IS NULL AND flips.to_status IN ('up', 'down') AND ${isNews('flips')}
       AND NOT ${hasWaitingFlip('flips.check_id', 'waiting.id < flips.id')}
     ORDER BY flips.id LIMIT ? FOR KEY SHARE OF checks SKIP LOCKED FOR UPDATE OF flips SKIP LOCKED`,
    [limit],
  )
}

/** Ends the work on flips; the caller has claimed them. */
export async function markProcessed(tx: Knex, flipIds: readonly number[]): Promise<void> {
  await execute(tx, 'UPDATE flips SET processed_at = now() WHERE id = ANY(?::bigint[])', [flipIds])
}

/** Counts flips that need a decision, up to a limit. */
export async function countWaitingFlips(db: Knex, most: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM flips JOIN checks ON checks.id = flips.check_id
       WHERE flips.processed_at IS NULL AND flips.to_status IN ('up', 'down') AND ${isNews('flips')} LIMIT ?) waiting`,
    [most],
  )
  return row?.count ?? 0
}
