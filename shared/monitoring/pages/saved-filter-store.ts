import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { lockProject } from '../projects/store.ts'

export interface SavedFilter {
  id: number
  name: string
  /** a query string, as `listQueryOf` makes it */
  query: string
}

const MAX_SAVED = 20

interface Owner {
  projectId: number
  userId: number
}

const SAVED_FILTER_COLUMNS = columns<SavedFilter>({ id: 'id', name: 'name', query: 'query' })

export async function listSavedFilters(db: Knex, { projectId, userId }: Owner): Promise<SavedFilter[]> {
  return await query(
    db,
    typed`SELECT ${SAVED_FILTER_COLUMNS} FROM saved_filters WHERE project_id = ? AND user_id = ? ORDER BY lower(name), id`,
    [projectId, userId],
  )
}

/** Replaces an equal name. `tx` locks the project, so that the limit holds. Returns false at the limit. */
export async function saveFilter(
  tx: Knex.Transaction,
  { projectId, userId }: Owner,
  { name, query: text }: Omit<SavedFilter, 'id'>,
): Promise<boolean> {
  await lockProject(tx, projectId)
  const saved = await execute(
    tx,
    `INSERT INTO saved_filters (project_id, user_id, name, query)
     SELECT ?, ?, ?, ? WHERE (SELECT count(*) FROM saved_filters WHERE project_id = ? AND user_id = ? AND name <> ?) < ?
     ON CONFLICT (project_id, user_id, name) DO UPDATE SET query = excluded.query`,
    [projectId, userId, name, text, projectId, userId, name, MAX_SAVED],
  )
  return saved === 1
}

export async function deleteSavedFilter(db: Knex, { projectId, userId }: Owner, id: number): Promise<void> {
  await execute(db, 'DELETE FROM saved_filters WHERE project_id = ? AND user_id = ? AND id = ?', [
    projectId,
    userId,
    id,
  ])
}
