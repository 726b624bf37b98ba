import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { timesColumns } from '../checks/columns-store.ts'
import type { CheckTimes } from '../checks/status.ts'
import { shownStatus } from '../checks/status.ts'
import { splitTags } from '../checks/tags.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import type { TimedNode } from './parent-suppression.ts'
import type { Node, Parent, ParentsMode } from './parents.ts'

interface StoredNode extends TimedNode {
  projectId: number
}

type Row = CheckTimes &
  Pick<StoredNode, 'uuid' | 'name' | 'projectId' | 'downAt' | 'upAt'> & {
    tags: string
    parents: Parent[] | null
    mode: ParentsMode | null
  }

const ROW_COLUMNS = columns<Row>({
  uuid: 'c.uuid',
  name: 'c.name',
  projectId: 'c.project_id',
  tags: 'c.tags',
  ...timesColumns('c'),
  parents: 'r.parents',
  mode: 'r.parents_mode',
  downAt: microsOf('i.down_at'),
  upAt: `CASE WHEN c.status = 'up' THEN (SELECT ${microsOf('max(at)')} FROM flips
                                            WHERE flips.check_id = c.id AND to_status = 'up') END`,
})

export async function nodesOf(db: Knex, projectIds: readonly number[], now: Micros): Promise<StoredNode[]> {
  const rows = await query(
    db,
    typed`SELECT ${ROW_COLUMNS} FROM checks c LEFT JOIN check_rules r ON r.check_id = c.id
       LEFT JOIN incidents i ON i.check_id = c.id AND i.resolved_at IS NULL
     WHERE c.project_id = ANY(?::bigint[])`,
    [projectIds],
  )
  return rows.map((row) => ({
    uuid: row.uuid,
    name: row.name,
    projectId: row.projectId,
    tags: splitTags(row.tags),
    parents: row.parents ?? [],
    mode: row.mode ?? 'any',
    state: stateOf(row, now),
    isUp: row.status === 'up',
    downAt: row.downAt,
    upAt: row.upAt,
  }))
}

function stateOf(check: CheckTimes, now: Micros): Node['state'] {
  if (check.status === 'down') return 'down'
  if (check.status !== 'up') return 'fine'
  return shownStatus(check, now, nextOccurrence) === 'up' ? 'fine' : 'late'
}

export async function reevaluateChildren(tx: Knex, projectIds: readonly number[]): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET next_at = now()
     WHERE project_id = ANY(?::bigint[]) AND suppression IN ('PARENT_DOWN', 'PARENT_LATE') AND resolved_at IS NULL`,
    [projectIds],
  )
}

export interface Depended {
  projectId: number
  uuid: string
  tags: readonly string[]
}

const CHILDREN_COLUMNS = columns<{ place: number; count: number }>()('a.place, count(DISTINCT n.uuid) AS count')

/** In the order of `checks`; counts checks that name it directly or by a tag. */
export async function countChildren(db: Knex, checks: readonly Depended[]): Promise<number[]> {
  const requested = checks.flatMap(({ projectId, uuid, tags }, place) =>
    [{ name: 'check', value: uuid }, ...tags.map((tag) => ({ name: 'tag', value: tag }))].map((key) => ({
      place,
      projectId,
      uuid,
      ...key,
    })),
  )
  const rows = await query(
    db,
    typed`WITH requested AS (
       SELECT * FROM jsonb_to_recordset(?::jsonb) AS t(place int, "projectId" bigint, uuid uuid, name text, value text)),
     named AS (
       SELECT c.project_id, c.uuid, parent.key AS name, parent.value
       FROM checks c JOIN check_rules r ON r.check_id = c.id
         CROSS JOIN LATERAL jsonb_array_elements(r.parents) AS one
         CROSS JOIN LATERAL jsonb_each_text(one) AS parent
       WHERE c.project_id = ANY(?::bigint[]))
     SELECT ${CHILDREN_COLUMNS}
     FROM requested a JOIN named n ON n.project_id = a."projectId" AND n.name = a.name AND n.value = a.value AND n.uuid <> a.uuid
     GROUP BY a.place`,
    [JSON.stringify(requested), [...new Set(checks.map(({ projectId }) => projectId))]],
  )
  const counts = new Map(rows.map(({ place, count }) => [place, count]))
  return checks.map((_, place) => counts.get(place) ?? 0)
}
