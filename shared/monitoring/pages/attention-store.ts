import type { Knex } from 'knex'
import { columns, query, typed } from '../../platform/database/sql.ts'
import { findNotableGap } from '../availability/gap-list-store.ts'
import type { ListedGap } from '../availability/notice.ts'

/** The navigation of each page shows these. */
export interface Attention {
  down: number
  /** failed last, or disabled after a failure */
  failing: number
  /** gap that is shown while it is recent */
  gap: ListedGap | null
}

const ATTENTION_COLUMNS = columns<Omit<Attention, 'gap'>>()(`
  (SELECT count(*) FROM checks WHERE project_id = ? AND status = 'down') AS down,
  (SELECT count(*) FROM integrations WHERE project_id = ? AND last_error <> '') AS failing`)

export async function findAttention(db: Knex, projectId: number): Promise<Attention> {
  const [rows, gap] = await Promise.all([
    query(db, typed`SELECT ${ATTENTION_COLUMNS}`, [projectId, projectId]),
    findNotableGap(db, projectId),
  ])
  return { ...(rows[0] ?? { down: 0, failing: 0 }), gap }
}
