import type { Knex } from 'knex'
import { timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { Source } from './imported.ts'
import type { Documented } from './merge.ts'

/** The state of a check in its source at the last import. */
export interface ImportedSource {
  uuid: string
  name: string
  key: string
  settings: Documented
  /** equal for imports from one place; null for imports of earlier releases */
  origin: string | null
}

const SOURCE_COLUMNS = columns<ImportedSource>()(`
  checks.uuid, checks.name, import_sources.key, import_sources.settings,
  import_sources.origin`)

export async function listSources(db: Knex, projectId: number, source: Source): Promise<ImportedSource[]> {
  return await query(
    db,
    typed`SELECT ${SOURCE_COLUMNS} FROM import_sources JOIN checks ON checks.id = import_sources.check_id
     WHERE checks.project_id = ? AND import_sources.source = ? ORDER BY checks.id`,
    [projectId, source],
  )
}

/** Stores the state of the source, for the comparison of the next import. */
export async function saveSources(
  tx: Knex,
  projectId: number,
  {
    source,
    origin,
    rows,
  }: { source: Source; origin: string | null; rows: readonly Omit<ImportedSource, 'name' | 'origin'>[] },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO import_sources (check_id, source, key, settings, origin)
     SELECT checks.id, ?, t.key, t.settings, ?::uuid
     FROM jsonb_to_recordset(?::jsonb) AS t(uuid uuid, key text, settings jsonb)
     JOIN checks ON checks.uuid = t.uuid AND checks.project_id = ?
     ON CONFLICT (check_id, source) DO UPDATE SET key = excluded.key, settings = excluded.settings, imported_at = now(),
       origin = excluded.origin
       WHERE import_sources.key <> excluded.key OR import_sources.settings <> excluded.settings
         OR import_sources.origin IS DISTINCT FROM excluded.origin`,
    [source, origin, JSON.stringify(rows), projectId],
  )
}

/** Gives checks the badge keys of their source, except keys that another check has. */
export async function takeBadgeKeys(
  tx: Knex,
  projectId: number,
  keys: readonly { uuid: string; badgeKey: string }[],
): Promise<void> {
  await execute(
    tx,
    `UPDATE checks SET badge_key = t.key FROM unnest(?::uuid[], ?::uuid[]) AS t(uuid, key)
     WHERE checks.uuid = t.uuid AND checks.project_id = ?
       AND NOT EXISTS (SELECT 1 FROM checks AS other WHERE other.badge_key = t.key)
       AND NOT EXISTS (SELECT 1 FROM projects WHERE projects.badge_key = t.key)`,
    [keys.map(({ uuid }) => uuid), keys.map(({ badgeKey }) => badgeKey), projectId],
  )
}

/** An imported check, with the facts of its first ping. */
export interface ArrivedCheck {
  id: number
  uuid: string
  name: string
  source: Source
  status: string
  isHeard: boolean
  isWatched: boolean
}

const ARRIVED_COLUMNS = columns<ArrivedCheck>()(`
  checks.id, checks.uuid, checks.name, import_sources.source, checks.status, checks.n_pings > 0 AS isHeard,
  checks.expected_from IS NOT NULL AS isWatched`)

/** Returns the imported checks of a project in the order of their creation. */
export async function listArrived(db: Knex, projectId: number): Promise<ArrivedCheck[]> {
  return await query(
    db,
    typed`SELECT DISTINCT ON (checks.id) ${ARRIVED_COLUMNS}
     FROM import_sources JOIN checks ON checks.id = import_sources.check_id
     WHERE checks.project_id = ? ORDER BY checks.id`,
    [projectId],
  )
}

/** Stores from when the first pings of checks are expected. The caller has locked the checks. */
export async function expectFirstPings(
  tx: Knex,
  from: Micros,
  checks: readonly { id: number; alertAfter: Micros | null }[],
): Promise<void> {
  await execute(
    tx,
    `UPDATE checks SET expected_from = ${timestampOf('?::bigint')}, alert_after = ${timestampOf('t.alert_after')}
     FROM unnest(?::bigint[], ?::bigint[]) AS t(id, alert_after) WHERE checks.id = t.id`,
    [from, checks.map(({ id }) => id), checks.map(({ alertAfter }) => alertAfter)],
  )
}

export async function insertPlan(
  db: Knex,
  { id, projectId, sealedPlan }: { id: string; projectId: number; sealedPlan: string },
): Promise<void> {
  await execute(db, 'INSERT INTO import_plans (id, project_id, sealed_plan) VALUES (?, ?, ?)', [
    id,
    projectId,
    sealedPlan,
  ])
}

/** Returns the sealed plan; null if it is unknown, of another project, or older than an hour. */
export async function findPlan(db: Knex, projectId: number, id: string): Promise<string | null> {
  const rows = await query<{ sealed: string }>(
    db,
    `SELECT sealed_plan AS sealed FROM import_plans
     WHERE id = ? AND project_id = ? AND created_at > now() - interval '1 hour'`,
    [id, projectId],
  )
  return rows[0]?.sealed ?? null
}

export async function deletePlan(db: Knex, projectId: number, id: string): Promise<void> {
  await execute(db, 'DELETE FROM import_plans WHERE id = ? AND project_id = ?', [id, projectId])
}

/** @returns the number of expired plans that were deleted */
export async function pruneImportPlans(db: Knex): Promise<number> {
  return await execute(db, "DELETE FROM import_plans WHERE created_at < now() - interval '1 hour'")
}
