import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Flip } from '../flips/filters.ts'
import type { FlipReason } from '../notifications/notification.ts'

export interface CheckFlip extends Flip {
  reason: FlipReason
}

/** Per check: ten a day for the displayed time. */
const MAX_FLIPS = 1_000

const FLIPS_COLUMNS = columns<CheckFlip & { checkId: number }>()(`
  f.check_id, ${microsOf('f.at')} AS at, f.from_status AS from, f.to_status AS to, f.reason`)

export async function listFlipsOfChecks(db: Knex, checkIds: readonly number[]): Promise<Map<number, CheckFlip[]>> {
  const rows = await query(
    db,
    typed`SELECT ${FLIPS_COLUMNS} FROM unnest(?::bigint[]) AS wanted(id), LATERAL (
       SELECT id, check_id, at, from_status, to_status, reason FROM flips WHERE check_id = wanted.id ORDER BY id DESC LIMIT ?
     ) AS f ORDER BY f.check_id, f.id`,
    [checkIds, MAX_FLIPS],
  )
  return Map.groupBy(rows, (row) => row.checkId)
}
