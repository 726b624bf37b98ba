import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../checks/lock-store.ts'
import { query } from '../platform/sql.ts'
import type { FlipRange } from './filters.ts'
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
