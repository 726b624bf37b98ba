import type { Knex } from 'knex'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Check } from './check.ts'
import { timesColumns } from './columns-store.ts'
import type { CheckTimes } from './status.ts'

export interface ShownCheck extends CheckTimes, Pick<Check, 'id' | 'uuid' | 'name' | 'tags'> {}

const SHOWN_COLUMNS = columns<ShownCheck>({
  id: 'checks.id',
  uuid: 'checks.uuid',
  name: 'checks.name',
  tags: 'checks.tags',
  ...timesColumns('checks'),
})

export async function listShownChecks(db: Knex, projectId: number): Promise<ShownCheck[]> {
  return await query(db, typed`SELECT ${SHOWN_COLUMNS} FROM checks WHERE project_id = ? ORDER BY id`, [projectId])
}

export async function findCheckByBadgeKey(db: Knex, badgeKey: string): Promise<ShownCheck | null> {
  const rows = await query(db, typed`SELECT ${SHOWN_COLUMNS} FROM checks WHERE badge_key = ?`, [badgeKey])
  return rows[0] ?? null
}
