import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { Flip } from '../flips/filters.ts'
import type { FlipReason } from '../notifications/notification.ts'

/** A flip with why it came. */
export interface CheckFlip extends Flip {
  reason: FlipReason
}

/** Of one check that are looked at: ten a day for the time that is shown. */
const MAX_FLIPS = 1_000

/** The newest flips of several checks in one query, by check. */
export async function listFlipsOfChecks(db: Knex, checkIds: readonly number[]): Promise<Map<number, CheckFlip[]>> {
  const rows = await query<CheckFlip & { checkId: number }>(
    db,
    `SELECT f.check_id AS "checkId", ${microsOf('f.at')} AS at, f.from_status AS "from", f.to_status AS "to", f.reason
     FROM unnest(?::bigint[]) AS wanted(id), LATERAL (
       SELECT id, check_id, at, from_status, to_status, reason FROM flips WHERE check_id = wanted.id ORDER BY id DESC LIMIT ?
     ) AS f ORDER BY f.check_id, f.id`,
    [checkIds, MAX_FLIPS],
  )
  return Map.groupBy(rows, (row) => row.checkId)
}
