import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { FlipReason } from '../notifications/notification.ts'

/** A change that nobody has been told of, in the hands of this transaction. */
export interface WaitingFlip {
  id: number
  checkId: number
  at: Micros
  to: 'up' | 'down'
  reason: FlipReason
}

/** After a day a change is news only for as long as its check is still so. `checks` is joined. @param flip its alias */
export const isNews = (flip: string) => `(${flip}.at > now() - interval '1 day' OR checks.status = ${flip}.to_status)`

/**
 * Whether a check has a flip that waits. `checks` is joined. Looked for among the flips of that check, all of them: of the
 * index of waiting flips the statistics say that it is empty, as it nearly always is, and after 100,000 checks went down at
 * once PostgreSQL would read it as a whole for each of them. Hence no condition that is that index's, and an OFFSET, which
 * keeps the question one per check.
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
 * Claims flips until the end of the transaction, the oldest first. One is taken only when nobody has still to be told of an
 * earlier one of its check, so that one check's changes are handed on in their order, by however many alerters. Waits for
 * nobody: what others hold is left to them. The checks are kept from being deleted meanwhile. To be called in the order of
 * the index (`inIndexOrder`).
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

/** Flips that wait to be handed on, up to a number; those that are no news any more are not among them. */
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

/** Whether a flip still waits to be handed on. */
export async function isFlipWaiting(db: Knex, flipId: number): Promise<boolean> {
  const rows = await query(db, 'SELECT 1 FROM flips WHERE id = ? AND processed_at IS NULL', [flipId])
  return rows.length > 0
}
