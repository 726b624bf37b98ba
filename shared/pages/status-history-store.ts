import type { Knex } from 'knex'
import { microsOf } from '../checks/lock-store.ts'
import type { Flip } from '../flips/view.ts'
import { query } from '../platform/sql.ts'

/** The stored flips of several checks in one query, by check. */
export async function listFlipsOfChecks(db: Knex, checkIds: readonly number[]): Promise<Map<number, Flip[]>> {
  const rows = await query<Flip & { checkId: number }>(
    db,
    `SELECT check_id AS "checkId", ${microsOf('at')} AS at, from_status AS "from", to_status AS "to"
     FROM flips WHERE check_id = ANY(?::bigint[]) ORDER BY check_id, id`,
    [checkIds],
  )
  return Map.groupBy(rows, (row) => row.checkId)
}
