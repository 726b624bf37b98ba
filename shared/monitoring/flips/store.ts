import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { execute, query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { StatusChange } from '../checks/state-machine.ts'
import type { FlipRange } from './filters.ts'
import { DECIDE_SILENT } from './silent-store.ts'
import type { Flip } from './view.ts'

/** The stored flips of a check within a range of time, newest first. */
export async function listFlips(db: Knex, checkId: number, range: FlipRange): Promise<Flip[]> {
  const rows = await query<Flip>(
    db,
    `SELECT ${microsOf('at')} AS at, from_status AS "from", to_status AS "to"
     FROM flips
     WHERE check_id = ?
       AND (?::bigint IS NULL OR at >= ${timestampOf('?::bigint')})
       AND (?::bigint IS NULL OR at < ${timestampOf('?::bigint')})
     ORDER BY id DESC`,
    [checkId, range.from, range.from, range.before, range.before],
  )
  return rows
}

/** Records a change of status that is history only, and that nobody is notified of: a pause or a resume; and why. */
export async function insertHistoricFlip(tx: Knex, checkId: number, change: StatusChange, at: Micros): Promise<void> {
  await execute(
    tx,
    `WITH flipped AS (
       INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
       VALUES (?, ${timestampOf('?::bigint')}, ?, ?, ?, now())
       RETURNING id, check_id, at, from_status, to_status, processed_at)
     ${DECIDE_SILENT}`,
    [checkId, at, change.from, change.to, change.reason],
  )
}

/** Forgets flips that are older than `days`, oldest first. @returns how many, `limit` at most */
export async function pruneFlips(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM flips WHERE id IN (
       SELECT id FROM flips WHERE at < now() - make_interval(days => ?::int) ORDER BY at LIMIT ?)`,
    [days, limit],
  )
}
