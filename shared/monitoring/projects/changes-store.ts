import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

export interface ProjectCounts {
  projectId: number
  checks: number
  down: number
}

const PROJECT_COUNTS_COLUMNS = columns<ProjectCounts>()(`
  project_id, count(*) AS checks, count(*) FILTER (WHERE status = 'down') AS down`)

export async function countByProject(db: Knex, projectIds: readonly number[]): Promise<ProjectCounts[]> {
  return await query(
    db,
    typed`SELECT ${PROJECT_COUNTS_COLUMNS} FROM checks WHERE project_id = ANY(?::bigint[]) GROUP BY project_id`,
    [projectIds],
  )
}

export async function renameProject(db: Knex, projectId: number, name: string): Promise<void> {
  await execute(db, 'UPDATE projects SET name = ? WHERE id = ?', [name, projectId])
}

/** For checks that are unknown because of a gap. */
export async function setNotifyUnknown(db: Knex, projectId: number, isWanted: boolean): Promise<void> {
  await execute(db, 'UPDATE projects SET notify_unknown = ? WHERE id = ?', [isWanted, projectId])
}

export async function notifiesUnknown(db: Knex, projectId: number): Promise<boolean> {
  const rows = await query<{ notifies: boolean }>(db, 'SELECT notify_unknown AS notifies FROM projects WHERE id = ?', [
    projectId,
  ])
  return rows[0]?.notifies ?? true
}

/**
 * Removes a project with everything in it; pings first, since nothing but their numbers ties them to checks.
 * @param ownerOf digest of the organisation that may use a uuid again (operations/retired-uuid.ts); by default no one may
 */
export async function deleteProject(
  tx: Knex,
  projectId: number,
  ownerOf: (uuid: string) => Buffer | null = () => null,
): Promise<void> {
  const rows = await query<{ uuid: string }>(
    tx,
    'SELECT uuid FROM checks WHERE project_id = ? ORDER BY id FOR UPDATE',
    [projectId],
  )
  const uuids = rows.map(({ uuid }) => uuid)
  await execute(tx, 'DELETE FROM pings WHERE check_id IN (SELECT id FROM checks WHERE project_id = ?)', [projectId])
  await execute(
    tx,
    `WITH retired AS (INSERT INTO deleted_checks (uuid, owner) SELECT * FROM unnest(?::uuid[], ?::bytea[]) ON CONFLICT DO NOTHING)
     DELETE FROM projects WHERE id = ?`,
    [uuids, uuids.map(ownerOf), projectId],
  )
}

/** The caller has locked the check; its integrations stay behind. */
export async function moveCheck(tx: Knex, checkId: number, projectId: number): Promise<void> {
  await execute(tx, 'DELETE FROM check_integrations WHERE check_id = ?', [checkId])
  await execute(tx, 'UPDATE checks SET project_id = ? WHERE id = ?', [projectId, checkId])
}

export async function findProjectOrganisation(db: Knex, projectId: number): Promise<number | null> {
  const rows = await query<{ id: number }>(db, 'SELECT organisation_id AS id FROM projects WHERE id = ?', [projectId])
  return rows[0]?.id ?? null
}

/** Returns an empty text for a deleted project. */
export async function findProjectName(db: Knex, projectId: number): Promise<string> {
  const rows = await query<{ name: string }>(db, 'SELECT name FROM projects WHERE id = ?', [projectId])
  return rows[0]?.name ?? ''
}
