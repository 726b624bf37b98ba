import type { Knex } from 'knex'
import { timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import type { Micros } from '../../time.ts'
import type { Check } from './check.ts'
import { settingColumns, stateColumns } from './columns-store.ts'
import { CHECK_FIELDS, type CheckSettings, entriesOf } from './fields.ts'
import type { UniqueCriteria } from './settings.ts'
import { uniqueKey } from './slug.ts'

export interface AssignedCheck extends Check {
  integrationIds: string[]
}

const SETTING_COLUMNS = settingColumns(CHECK_FIELDS, 'checks')

const CHECK_COLUMNS = columns<Check>({
  id: 'checks.id',
  uuid: 'checks.uuid',
  projectId: 'checks.project_id',
  badgeKey: 'checks.badge_key',
  ...SETTING_COLUMNS,
  filterRules: 'checks.filter_rules',
  earlySeconds: 'checks.early_seconds',
  ...stateColumns('checks'),
})

const ASSIGNED_COLUMNS = columns<Pick<AssignedCheck, 'integrationIds'>>({
  integrationIds: `
    COALESCE((SELECT array_agg(integrations.uuid::text) FROM check_integrations
              JOIN integrations ON integrations.id = check_integrations.integration_id
              WHERE check_integrations.check_id = checks.id), '{}')`,
})

const JOINED_COLUMNS = columns<Pick<AssignedCheck, 'integrationIds'>>()(`
  COALESCE(assigned.ids, '{}') AS integrationIds`)

export async function listChecks(db: Knex, projectId: number, slug?: string): Promise<AssignedCheck[]> {
  // One pass over the assignments of the project is faster than one lookup per check.
  const rows = await query(
    db,
    typed`SELECT ${CHECK_COLUMNS}, ${JOINED_COLUMNS} FROM checks LEFT JOIN (
       SELECT check_integrations.check_id, array_agg(integrations.uuid::text) AS ids
       FROM integrations JOIN check_integrations ON check_integrations.integration_id = integrations.id
       WHERE integrations.project_id = ? GROUP BY check_integrations.check_id
     ) AS assigned ON assigned.check_id = checks.id
     WHERE checks.project_id = ? ${slug === undefined ? '' : 'AND checks.slug = ?'} ORDER BY checks.id`,
    slug === undefined ? [projectId, projectId] : [projectId, projectId, slug],
  )
  return rows
}

/** Of any project, because the API distinguishes a foreign check from a missing one. */
export async function findCheck(db: Knex, uuid: string): Promise<AssignedCheck | null> {
  const rows = await query(db, typed`SELECT ${CHECK_COLUMNS}, ${ASSIGNED_COLUMNS} FROM checks WHERE uuid = ?`, [uuid])
  return rows[0] ?? null
}

/** Finds checks of any project, in the order of the ids; null for a deleted check. */
export async function findChecks(db: Knex, ids: readonly number[]): Promise<(AssignedCheck | null)[]> {
  const sql = typed`SELECT ${CHECK_COLUMNS}, ${ASSIGNED_COLUMNS} FROM checks WHERE id = ANY(?::bigint[])`
  const rows = await query(db, sql, [ids])
  const checks = new Map(rows.map((check) => [check.id, check]))
  return ids.map((id) => checks.get(id) ?? null)
}

/** PostgreSQL cannot compute SHA-1, so the project's uuids are read. */
export async function findUuidByUniqueKey(db: Knex, projectId: number, key: string): Promise<string | null> {
  const rows = await query<{ uuid: string }>(db, 'SELECT uuid FROM checks WHERE project_id = ? ORDER BY id', [
    projectId,
  ])
  const slices = createTimeSlices()
  for (const { uuid } of rows) {
    if (uniqueKey(uuid) === key) return uuid
    await slices.yieldIfNeeded()
  }
  return null
}

export async function lockCheck(tx: Knex, projectId: number, uuid: string): Promise<AssignedCheck | null> {
  const rows = await query(
    tx,
    typed`SELECT ${CHECK_COLUMNS} FROM checks WHERE project_id = ? AND uuid = ? FOR UPDATE`,
    [projectId, uuid],
  )
  const [check] = rows
  if (!check) return null
  const assigned = await query<{ uuid: string }>(
    tx,
    `SELECT integrations.uuid FROM check_integrations JOIN integrations ON integrations.id = check_integrations.integration_id
     WHERE check_integrations.check_id = ?`,
    [check.id],
  )
  return { ...check, integrationIds: assigned.map((row) => row.uuid) }
}

export async function findUnique(db: Knex, projectId: number, criteria: UniqueCriteria): Promise<Check | null> {
  const conditions = entriesOf(criteria).map(([name]) => `AND ${SETTING_COLUMNS[name]} = ?`)
  const rows = await query(
    db,
    typed`SELECT ${CHECK_COLUMNS} FROM checks WHERE project_id = ? ${conditions.join(' ')} ORDER BY id LIMIT 1`,
    [projectId, ...Object.values(criteria)],
  )
  return rows[0] ?? null
}

export async function countChecks(db: Knex, projectId: number): Promise<number> {
  const rows = await query<{ count: number }>(db, 'SELECT count(*)::int AS count FROM checks WHERE project_id = ?', [
    projectId,
  ])
  return rows[0]?.count ?? 0
}

/** `identity` is only for a check that is imported or moved. */
export async function insertCheck(
  tx: Knex,
  projectId: number,
  settings: CheckSettings,
  identity: { uuid?: string; badgeKey?: string } = {},
): Promise<Check> {
  const assigned = toColumns(settings)
  if (identity.uuid !== undefined) assigned.push(['uuid', identity.uuid])
  if (identity.badgeKey !== undefined) assigned.push(['badge_key', identity.badgeKey])
  const rows = await query(
    tx,
    typed`INSERT INTO checks (project_id, ${assigned.map(([column]) => column).join(', ')})
     VALUES (?, ${assigned.map(() => '?').join(', ')}) RETURNING ${CHECK_COLUMNS}`,
    [projectId, ...assigned.map(([, value]) => value)],
  )
  const [check] = rows
  if (!check) throw new Error('the check was not inserted')
  return check
}

export async function updateSettings(
  tx: Knex,
  checkId: number,
  changes: Partial<CheckSettings>,
  alertAfter: Micros | null,
): Promise<void> {
  const assigned = toColumns(changes)
  await execute(
    tx,
    `UPDATE checks SET ${assigned.map(([column]) => `${column} = ?, `).join('')}
       alert_after = ${timestampOf('?::bigint')}
     WHERE id = ?`,
    [...assigned.map(([, value]) => value), alertAfter, checkId],
  )
}

/** Used after pause or resume. The caller has locked the check. */
export async function updateState(tx: Knex, check: Check): Promise<void> {
  const at = timestampOf('?::bigint')
  await execute(
    tx,
    `UPDATE checks SET status = ?, last_ping = ${at}, last_start = ${at}, last_start_rid = ?, alert_after = ${at},
       expected_from = NULL
     WHERE id = ?`,
    [check.status, check.lastPing, check.lastStart, check.lastStartRid, check.alertAfter, check.id],
  )
}

/**
 * Deletes a check that the caller has locked, with its dependent rows.
 * @param owner digest of the organisation that may use the uuid again (operations/retired-uuid.ts); by default no one may
 */
export async function deleteCheck(tx: Knex, checkId: number, owner: Buffer | null = null): Promise<void> {
  await execute(tx, 'DELETE FROM pings WHERE check_id = ?', [checkId])
  await execute(
    tx,
    `WITH gone AS (DELETE FROM checks WHERE id = ? RETURNING uuid)
     INSERT INTO deleted_checks (uuid, owner) SELECT uuid, ?::bytea FROM gone ON CONFLICT DO NOTHING`,
    [checkId, owner],
  )
}

export async function assignIntegrations(
  tx: Knex,
  check: { id: number; projectId: number },
  integrationIds: readonly string[],
): Promise<void> {
  await execute(tx, 'DELETE FROM check_integrations WHERE check_id = ?', [check.id])
  if (integrationIds.length === 0) return
  await execute(
    tx,
    `INSERT INTO check_integrations (check_id, integration_id)
     SELECT ?, id FROM integrations WHERE project_id = ? AND uuid = ANY(?::uuid[])`,
    [check.id, check.projectId, integrationIds],
  )
}

/** Ignores members that are not settings, so `settings` may be a check. */
function toColumns(settings: Partial<CheckSettings>): [string, string | number | boolean][] {
  return entriesOf(CHECK_FIELDS).flatMap(([name, { column }]) => {
    const value = settings[name]
    return value === undefined ? [] : [[column, value] as const]
  })
}

const CHECK_OWNER_COLUMNS = columns<{ id: number; projectId: number }>({ id: 'id', projectId: 'project_id' })

export async function findCheckOwner(db: Knex, uuid: string): Promise<{ id: number; projectId: number } | null> {
  const rows = await query(db, typed`SELECT ${CHECK_OWNER_COLUMNS} FROM checks WHERE uuid = ?`, [uuid])
  return rows[0] ?? null
}

const USED_UUID_COLUMNS = columns<UsedUuid>()('uuid, owner, is_retired, organisation_id, project_name')

/** A uuid that a check has, or had. */
export interface UsedUuid {
  uuid: string
  /** digest of the organisation that may use a retired uuid again; null if no one may */
  owner: Buffer | null
  isRetired: boolean
  /** of the project whose check has it now; null if it is retired */
  organisationId: number | null
  projectName: string | null
}

/** Returns those uuids that a check of any project has or had. */
export async function findUsedUuids(db: Knex, uuids: readonly string[]): Promise<UsedUuid[]> {
  return await query(
    db,
    typed`SELECT ${USED_UUID_COLUMNS} FROM (
       SELECT c.uuid, NULL::bytea AS owner, false AS is_retired, p.organisation_id, p.name AS project_name
       FROM checks c JOIN projects p ON p.id = c.project_id WHERE c.uuid = ANY(?::uuid[])
       UNION ALL SELECT uuid, owner, true, NULL, NULL FROM deleted_checks WHERE uuid = ANY(?::uuid[])) AS used`,
    [uuids, uuids],
  )
}

/** Makes retired uuids usable again; the caller has verified that it may. */
export async function reviveUuids(tx: Knex, uuids: readonly string[]): Promise<void> {
  await execute(tx, 'DELETE FROM deleted_checks WHERE uuid = ANY(?::uuid[])', [uuids])
}
