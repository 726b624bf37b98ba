import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'

/** The distinct tag texts of a project's checks, each to be split (tags.ts). */
export async function listTags(db: Knex, projectId: number): Promise<string[]> {
  const rows = await query<{ tags: string }>(
    db,
    `SELECT DISTINCT tags FROM checks WHERE project_id = ? AND tags <> '' ORDER BY tags`,
    [projectId],
  )
  return rows.map((row) => row.tags)
}
