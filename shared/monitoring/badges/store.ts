import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'

const NO_CHECK = -1

/**
 * The distinct tag texts of a project's checks, each to be split (tags.ts).
 * @param exceptCheckId a check whose tags are left out
 */
export async function listTags(db: Knex, projectId: number, exceptCheckId = NO_CHECK): Promise<string[]> {
  const rows = await query<{ tags: string }>(
    db,
    `SELECT DISTINCT tags FROM checks WHERE project_id = ? AND tags <> '' AND id <> ? ORDER BY tags`,
    [projectId, exceptCheckId],
  )
  return rows.map((row) => row.tags)
}
