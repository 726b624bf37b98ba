import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { FlipReason } from '../notifications/notification.ts'

export interface WaitingFlip {
  id: number
  checkId: number
  at: Micros
  to: 'up' | 'down'
  reason: FlipReason
}

/** True for one day, and afterwards while the check still has that status. `checks` must be joined. */
export const isNews = (flip: string) => `(${flip}.at > now() - interval '1 day' OR checks.status = ${flip}.to_status)`

/**
 * `checks` must be joined. Statistics show the index of waiting flips as empty, so PostgreSQL would scan it for each
 * of 100,000 checks. Therefore the condition reads all flips of a check, must not match that index, and OFFSET 0
 * keeps one subquery per check. `also` is a further condition on `waiting`.
 */
export const hasWaitingFlip = (checkId: string, also = 'true') => `EXISTS (
  SELECT 1 FROM flips waiting
  WHERE waiting.check_id = ${checkId} AND coalesce(waiting.processed_at, 'infinity') = 'infinity'
    AND ${isNews('waiting')} AND ${also} OFFSET 0)`

const WAITING_FLIP_COLUMNS = columns<WaitingFlip>()(`
  flips.id, flips.check_id, ${microsOf('flips.at')} AS at, flips.to_status AS to, flips.reason`)

/**
 * Claims a flip only if no earlier flip of its check waits, so that several alerters process a check's flips in
 * order. Skips locked rows. Locks the checks against deletion. Call it in the order of the index (`inIndexOrder`).
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

/** The caller has claimed the flips. */
export async function markProcessed(tx: Knex, flipIds: readonly number[]): Promise<void> {
  await execute(tx, 'UPDATE flips SET processed_at = now() WHERE id = ANY(?::bigint[])', [flipIds])
}

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
