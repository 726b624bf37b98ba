import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'

const NO_CHECK = -1

export async function listTags(db: Knex, projectId: number, exceptCheckId = NO_CHECK): Promise<string[]> {
  const rows = await query<{ tags: string }>(
    db,
    `SELECT DISTINCT tags FROM checks WHERE project_id = ? AND tags <> '' AND id <> ? ORDER BY tags`,
    [projectId, exceptCheckId],
  )
  return rows.map((row) => row.tags)
}
