import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

export interface OpenUnknown {
  /** without grace time */
  expectedAt: Micros
  /** extended deadline; null if no further ping is expected */
  nextAt: Micros | null
  /** GAP: a coverage gap; REFUSED_PING: a refused ping of this check */
  reason: 'GAP' | 'REFUSED_PING'
}

const OPEN_UNKNOWN_COLUMNS = columns<OpenUnknown>()(`
  ${microsOf("(u.expected_at - c.grace_seconds * interval '1 second')")} AS expectedAt,
  ${microsOf('u.next_at')} AS nextAt, u.reason`)

export async function findOpenUnknown(db: Knex, checkId: number): Promise<OpenUnknown | null> {
  const [found] = await query(
    db,
    typed`SELECT ${OPEN_UNKNOWN_COLUMNS} FROM unknown_periods u JOIN checks c ON c.id = u.check_id
     WHERE u.check_id = ? AND u.until_at IS NULL AND c.status = 'up'
       AND c.deadline_extended_at > coalesce(c.last_ping, '-infinity'::timestamptz)
     ORDER BY u.id DESC LIMIT 1`,
    [checkId],
  )
  return found ?? null
}
