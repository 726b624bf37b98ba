import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'
import type { WindowTime } from './window.ts'

/** What a check was before an instant and what it is about. */
export interface UptimeSubject {
  uuid: string
  tags: string
  createdAt: Micros
  /** by its newest flip before the instant; null when none is kept */
  before: StoredStatus | null
  /** what its oldest kept flip led away from, or what it is now when none is kept */
  oldest: StoredStatus
}

/** @returns null when the check is gone */
export async function findUptimeSubject(db: Knex, checkId: number, at: Micros): Promise<UptimeSubject | null> {
  const [row] = await query<UptimeSubject>(
    db,
    `SELECT c.uuid, c.tags, ${microsOf('c.created_at')} AS "createdAt",
            (SELECT to_status FROM flips WHERE check_id = c.id AND at < ${timestampOf('?::bigint')}
             ORDER BY id DESC LIMIT 1) AS before,
            COALESCE((SELECT from_status FROM flips WHERE check_id = c.id ORDER BY id LIMIT 1), c.status) AS oldest
     FROM checks c WHERE c.id = ?`,
    [at, checkId],
  )
  return row ?? null
}

/** When nothing could be known of a check within a span; what is still open lasts until its end. */
export async function listUnknown(db: Knex, checkId: number, from: Micros, until: Micros): Promise<WindowTime[]> {
  return (await listUnknownOfChecks(db, [checkId], from, until)).get(checkId) ?? []
}

/** The same for several checks, by id; one of which all is known is not in it. */
export async function listUnknownOfChecks(
  db: Knex,
  checkIds: readonly number[],
  from: Micros,
  until: Micros,
): Promise<Map<number, WindowTime[]>> {
  const [begin, end] = [timestampOf('?::bigint'), timestampOf('?::bigint')]
  const rows = await query<WindowTime & { checkId: number }>(
    db,
    `SELECT check_id AS "checkId", ${microsOf('from_at')} AS "from", COALESCE(${microsOf('until_at')}, ?::bigint) AS until
     FROM unknown_periods WHERE check_id = ANY(?::bigint[]) AND from_at < ${end} AND (until_at IS NULL OR until_at > ${begin})`,
    [until, checkIds, until, from],
  )
  const spans = new Map<number, WindowTime[]>()
  for (const { checkId, ...span } of rows) spans.set(checkId, [...(spans.get(checkId) ?? []), span])
  return spans
}
