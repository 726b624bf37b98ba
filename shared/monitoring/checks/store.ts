import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import type { Micros } from '../../time.ts'
import type { Check } from './check.ts'
import type { CheckSettings, UniqueCriteria } from './settings.ts'
import { uniqueKey } from './slug.ts'
import { MAX_DESC_LENGTH } from './spec.ts'

/** A check and the integrations it is assigned to. */
export interface AssignedCheck extends Check {
  /** uuids, in no particular order */
  integrationIds: string[]
}

/** A check as the rules know it; instants as whole microseconds. A description of before the limit is cut to it. */
const CHECK_COLUMNS = columns<Check>({
  id: 'checks.id',
  uuid: 'checks.uuid',
  projectId: 'checks.project_id',
  name: 'checks.name',
  slug: 'checks.slug',
  tags: 'checks.tags',
  desc: `left(checks.description, ${MAX_DESC_LENGTH})`,
  badgeKey: 'checks.badge_key',
  kind: 'checks.kind',
  timeoutSeconds: 'checks.timeout_seconds',
  graceSeconds: 'checks.grace_seconds',
  schedule: 'checks.schedule',
  tz: 'checks.tz',
  manualResume: 'checks.manual_resume',
  methods: 'checks.methods',
  startKw: 'checks.start_kw',
  successKw: 'checks.success_kw',
  failureKw: 'checks.failure_kw',
  filterSubject: 'checks.filter_subject',
  filterBody: 'checks.filter_body',
  filterHttpBody: 'checks.filter_http_body',
  filterDefaultFail: 'checks.filter_default_fail',
  status: 'checks.status',
  nPings: 'checks.n_pings',
  lastPing: microsOf('checks.last_ping'),
  lastStart: microsOf('checks.last_start'),
  lastStartRid: 'checks.last_start_rid',
  lastDuration: 'checks.last_duration_us',
  alertAfter: microsOf('checks.alert_after'),
  deadlineExtendedAt: microsOf('checks.deadline_extended_at'),
  ruleBits: 'checks.rule_bits',
})

const ASSIGNED_COLUMNS = columns<Pick<AssignedCheck, 'integrationIds'>>({
  integrationIds: `
    COALESCE((SELECT array_agg(integrations.uuid::text) FROM check_integrations
              JOIN integrations ON integrations.id = check_integrations.integration_id
              WHERE check_integrations.check_id = checks.id), '{}')`,
})

const JOINED_COLUMNS = columns<Pick<AssignedCheck, 'integrationIds'>>({
  integrationIds: "COALESCE(assigned.ids, '{}')",
})

/** Returns the checks of a project in the order of their creation. @param slug only those with exactly this slug */
export async function listChecks(db: Knex, projectId: number, slug?: string): Promise<AssignedCheck[]> {
  // One pass over the assignments of the project instead of one look-up per check.
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

/**
 * Returns a check of any project. The caller compares `projectId`, because the API distinguishes a check of another
 * project from no check.
 */
export async function findCheck(db: Knex, uuid: string): Promise<AssignedCheck | null> {
  const rows = await query(db, typed`SELECT ${CHECK_COLUMNS}, ${ASSIGNED_COLUMNS} FROM checks WHERE uuid = ?`, [uuid])
  return rows[0] ?? null
}

/** Checks of any project, in the order of the ids; null for those that were deleted. */
export async function findChecks(db: Knex, ids: readonly number[]): Promise<(AssignedCheck | null)[]> {
  const sql = typed`SELECT ${CHECK_COLUMNS}, ${ASSIGNED_COLUMNS} FROM checks WHERE id = ANY(?::bigint[])`
  const rows = await query(db, sql, [ids])
  const checks = new Map(rows.map((check) => [check.id, check]))
  return ids.map((id) => checks.get(id) ?? null)
}

/**
 * Returns the uuid of the check with this unique_key. PostgreSQL cannot compute SHA-1, so the project's uuids are read.
 */
export async function findUuidByUniqueKey(db: Knex, projectId: number, key: string): Promise<string | null> {
  const rows = await query<{ uuid: string }>(db, 'SELECT uuid FROM checks WHERE project_id = ? ORDER BY id', [
    projectId,
  ])
  const turns = createTimeSlices()
  for (const { uuid } of rows) {
    if (uniqueKey(uuid) === key) return uuid
    await turns.rest()
  }
  return null
}

/** Reads a check of the project and locks it until the transaction ends. */
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

const CRITERIA = {
  name: 'name = ?',
  slug: 'slug = ?',
  tags: 'tags = ?',
  timeoutSeconds: 'timeout_seconds = ?',
  graceSeconds: 'grace_seconds = ?',
} as const satisfies Record<keyof UniqueCriteria, string>

/** Returns the oldest check that equals all criteria (settings.ts); null if there is none. */
export async function findUnique(db: Knex, projectId: number, criteria: UniqueCriteria): Promise<Check | null> {
  const entries = Object.entries(criteria)
  const conditions = entries.map(([field]) => `AND ${isCriterion(field) ? CRITERIA[field] : 'false'}`)
  const rows = await query(
    db,
    typed`SELECT ${CHECK_COLUMNS} FROM checks WHERE project_id = ? ${conditions.join(' ')} ORDER BY id LIMIT 1`,
    [projectId, ...entries.map(([, value]) => value)],
  )
  return rows[0] ?? null
}

function isCriterion(field: string): field is keyof typeof CRITERIA {
  return Object.hasOwn(CRITERIA, field)
}

export async function countChecks(db: Knex, projectId: number): Promise<number> {
  const rows = await query<{ count: number }>(db, 'SELECT count(*)::int AS count FROM checks WHERE project_id = ?', [
    projectId,
  ])
  return rows[0]?.count ?? 0
}

const SETTING_COLUMNS = {
  name: 'name',
  slug: 'slug',
  tags: 'tags',
  desc: 'description',
  kind: 'kind',
  timeoutSeconds: 'timeout_seconds',
  graceSeconds: 'grace_seconds',
  schedule: 'schedule',
  tz: 'tz',
  manualResume: 'manual_resume',
  methods: 'methods',
  startKw: 'start_kw',
  successKw: 'success_kw',
  failureKw: 'failure_kw',
  filterSubject: 'filter_subject',
  filterBody: 'filter_body',
  filterHttpBody: 'filter_http_body',
  filterDefaultFail: 'filter_default_fail',
} as const satisfies Record<keyof CheckSettings, string>

/** Creates a check, new and never pinged. @param uuid only when a check moves here with its identity */
export async function insertCheck(
  tx: Knex,
  projectId: number,
  settings: CheckSettings,
  identity: { uuid?: string; badgeKey?: string } = {},
): Promise<Check> {
  const columns = toColumns(settings)
  if (identity.uuid !== undefined) columns.push(['uuid', identity.uuid])
  if (identity.badgeKey !== undefined) columns.push(['badge_key', identity.badgeKey])
  const rows = await query(
    tx,
    typed`INSERT INTO checks (project_id, ${columns.map(([column]) => column).join(', ')})
     VALUES (?, ${columns.map(() => '?').join(', ')}) RETURNING ${CHECK_COLUMNS}`,
    [projectId, ...columns.map(([, value]) => value)],
  )
  const [check] = rows
  if (!check) throw new Error('the check was not inserted')
  return check
}

/** Changes settings of a check that the caller has locked, and the instant at which the sweeper must look. */
export async function updateSettings(
  tx: Knex,
  checkId: number,
  changes: Partial<CheckSettings>,
  alertAfter: Micros | null,
): Promise<void> {
  const columns = toColumns(changes)
  await execute(
    tx,
    `UPDATE checks SET ${columns.map(([column]) => `${column} = ?, `).join('')}
       alert_after = ${timestampOf('?::bigint')}
     WHERE id = ?`,
    [...columns.map(([, value]) => value), alertAfter, checkId],
  )
}

/** Stores what pause and resume changed in a check that the caller has locked. */
export async function updateState(tx: Knex, check: Check): Promise<void> {
  const at = timestampOf('?::bigint')
  await execute(
    tx,
    `UPDATE checks SET status = ?, last_ping = ${at}, last_start = ${at}, last_start_rid = ?, alert_after = ${at}
     WHERE id = ?`,
    [check.status, check.lastPing, check.lastStart, check.lastStartRid, check.alertAfter, check.id],
  )
}

/** Removes a check that the caller has locked, with everything that hangs on it; its uuid is never given again. */
export async function deleteCheck(tx: Knex, checkId: number): Promise<void> {
  await execute(tx, 'DELETE FROM pings WHERE check_id = ?', [checkId])
  await execute(
    tx,
    `WITH gone AS (DELETE FROM checks WHERE id = ? RETURNING uuid)
     INSERT INTO deleted_checks (uuid) SELECT uuid FROM gone ON CONFLICT DO NOTHING`,
    [checkId],
  )
}

/** Replaces the integrations of a check. @param integrationIds uuids; those of other projects are left out */
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

function toColumns(settings: Partial<CheckSettings>): [string, string | number | boolean][] {
  return Object.entries(settings).map(([field, value]) => {
    if (!isSetting(field)) throw new Error(`${field} is not a setting`)
    return [SETTING_COLUMNS[field], value]
  })
}

function isSetting(field: string): field is keyof typeof SETTING_COLUMNS {
  return Object.hasOwn(SETTING_COLUMNS, field)
}

const CHECK_OWNER_COLUMNS = columns<{ id: number; projectId: number }>({ id: 'id', projectId: 'project_id' })

/** Returns the id and project of a check; null if there is no such check. */
export async function findCheckOwner(db: Knex, uuid: string): Promise<{ id: number; projectId: number } | null> {
  const rows = await query(db, typed`SELECT ${CHECK_OWNER_COLUMNS} FROM checks WHERE uuid = ?`, [uuid])
  return rows[0] ?? null
}

/** Returns true if no check has or had this uuid, in any project. */
export async function isFreeUuid(db: Knex, uuid: string): Promise<boolean> {
  const rows = await query<{ uuid: string }>(
    db,
    'SELECT uuid FROM checks WHERE uuid = ? UNION ALL SELECT uuid FROM deleted_checks WHERE uuid = ?',
    [uuid, uuid],
  )
  return rows.length === 0
}
