import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Check } from './check.ts'
import type { CheckTimes } from './status.ts'

/** The fields of a check for badges, status pages and metrics; all are short. */
export interface ShownCheck extends CheckTimes, Pick<Check, 'id' | 'uuid' | 'name' | 'tags'> {}

/** Returns the columns of CheckTimes. @param table name or alias of the table `checks` */
export function timesColumns(table: string): Record<keyof CheckTimes, string> {
  return {
    kind: `${table}.kind`,
    timeoutSeconds: `${table}.timeout_seconds`,
    graceSeconds: `${table}.grace_seconds`,
    schedule: `${table}.schedule`,
    tz: `${table}.tz`,
    status: `${table}.status`,
    nPings: `${table}.n_pings`,
    lastPing: microsOf(`${table}.last_ping`),
    lastStart: microsOf(`${table}.last_start`),
    lastStartRid: `${table}.last_start_rid`,
    lastDuration: `${table}.last_duration_us`,
    alertAfter: microsOf(`${table}.alert_after`),
    deadlineExtendedAt: microsOf(`${table}.deadline_extended_at`),
    ruleBits: `${table}.rule_bits`,
  }
}

const SHOWN_COLUMNS = columns<ShownCheck>({
  id: 'id',
  uuid: 'uuid',
  name: 'name',
  tags: 'tags',
  ...timesColumns('checks'),
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
