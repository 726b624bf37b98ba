import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Check } from './check.ts'
import type { CheckTimes } from './status.ts'

/** The fields of a check for badges, status pages and metrics; all are short. */
export interface ShownCheck extends CheckTimes, Pick<Check, 'id' | 'uuid' | 'name' | 'tags'> {}

const SHOWN_COLUMNS = columns<ShownCheck>({
  id: 'id',
  uuid: 'uuid',
  name: 'name',
  tags: 'tags',
  kind: 'kind',
  timeoutSeconds: 'timeout_seconds',
  graceSeconds: 'grace_seconds',
  schedule: 'schedule',
  tz: 'tz',
  status: 'status',
  nPings: 'n_pings',
  lastPing: microsOf('last_ping'),
  lastStart: microsOf('last_start'),
  lastStartRid: 'last_start_rid',
  lastDuration: 'last_duration_us',
  alertAfter: microsOf('alert_after'),
  deadlineExtendedAt: microsOf('deadline_extended_at'),
  ruleBits: 'rule_bits',
})

/** Returns the checks of a project in the order of their creation, without fields that only their owner reads. */
export async function listShownChecks(db: Knex, projectId: number): Promise<ShownCheck[]> {
  return await query(db, typed`SELECT ${SHOWN_COLUMNS} FROM checks WHERE project_id = ? ORDER BY id`, [projectId])
}

/** Returns the check that badge URLs with this key are about. */
export async function findCheckByBadgeKey(db: Knex, badgeKey: string): Promise<ShownCheck | null> {
  const rows = await query(db, typed`SELECT ${SHOWN_COLUMNS} FROM checks WHERE badge_key = ?`, [badgeKey])
  return rows[0] ?? null
}
