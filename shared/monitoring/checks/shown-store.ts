import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { Check } from './check.ts'
import type { CheckTimes } from './status.ts'

/** What badges, status pages and metrics show of a check; nothing in it is long. */
export interface ShownCheck extends CheckTimes, Pick<Check, 'id' | 'uuid' | 'name' | 'tags'> {}

const SHOWN_COLUMNS = `
  id, uuid, name, tags, kind, timeout_seconds AS "timeoutSeconds", grace_seconds AS "graceSeconds", schedule, tz,
  status, n_pings AS "nPings", ${microsOf('last_ping')} AS "lastPing", ${microsOf('last_start')} AS "lastStart",
  last_start_rid AS "lastStartRid", last_duration_us AS "lastDuration", ${microsOf('alert_after')} AS "alertAfter",
  ${microsOf('deadline_extended_at')} AS "deadlineExtendedAt", rule_bits AS "ruleBits"`

/** The checks of a project in the order of their creation, without what only their owner reads. */
export async function listShownChecks(db: Knex, projectId: number): Promise<ShownCheck[]> {
  return await query<ShownCheck>(db, `SELECT ${SHOWN_COLUMNS} FROM checks WHERE project_id = ? ORDER BY id`, [
    projectId,
  ])
}

/** The check that badge URLs with this key are about. */
export async function findCheckByBadgeKey(db: Knex, badgeKey: string): Promise<ShownCheck | null> {
  const rows = await query<ShownCheck>(db, `SELECT ${SHOWN_COLUMNS} FROM checks WHERE badge_key = ?`, [badgeKey])
  return rows[0] ?? null
}
