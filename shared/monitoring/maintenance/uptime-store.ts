import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'
import type { WindowTime } from './window.ts'

export interface UptimeSubject {
  uuid: string
  tags: string
  createdAt: Micros
  /** by its newest flip before the instant; null if no flip is stored */
  before: StoredStatus | null
  /** the status before its oldest stored flip, or the present status if no flip is stored */
  oldest: StoredStatus
}

const UPTIME_SUBJECT_COLUMNS = columns<UptimeSubject>()(`
  c.uuid, c.tags, ${microsOf('c.created_at')} AS createdAt,
  (SELECT to_status FROM flips WHERE check_id = c.id AND at < ${timestampOf('?::bigint')} ORDER BY id DESC LIMIT 1) AS before,
  COALESCE((SELECT from_status FROM flips WHERE check_id = c.id ORDER BY id LIMIT 1), c.status) AS oldest`)

export async function findUptimeSubject(db: Knex, checkId: number, at: Micros): Promise<UptimeSubject | null> {
  const [row] = await query(db, typed`SELECT ${UPTIME_SUBJECT_COLUMNS} FROM checks c WHERE c.id = ?`, [at, checkId])
  return row ?? null
}

export async function listUnknown(db: Knex, checkId: number, from: Micros, until: Micros): Promise<WindowTime[]> {
  return (await listUnknownOfChecks(db, [checkId], from, until)).get(checkId) ?? []
}

const UNKNOWN_COLUMNS = columns<WindowTime & { checkId: number }>()(`
  check_id, ${microsOf('from_at')} AS from, COALESCE(${microsOf('until_at')}, ?::bigint) AS until`)

export async function listUnknownOfChecks(
  db: Knex,
  checkIds: readonly number[],
  from: Micros,
  until: Micros,
): Promise<Map<number, WindowTime[]>> {
  const [begin, end] = [timestampOf('?::bigint'), timestampOf('?::bigint')]
  const rows = await query(
    db,
    typed`SELECT ${UNKNOWN_COLUMNS}
     FROM unknown_periods WHERE check_id = ANY(?::bigint[]) AND from_at < ${end} AND (until_at IS NULL OR until_at > ${begin})`,
    [until, checkIds, until, from],
  )
  const spans = new Map<number, WindowTime[]>()
  for (const { checkId, ...span } of rows) spans.set(checkId, [...(spans.get(checkId) ?? []), span])
  return spans
}
