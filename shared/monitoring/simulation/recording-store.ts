import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { MAX_LEVELS, type Parent, type ParentsMode } from '../rules/parents.ts'
import type { PastNode } from './parent-history.ts'

const MAX_ABOVE = 500
const MAX_OUTAGES = 20_000

interface RecordedNode extends Omit<PastNode, 'flips' | 'tags'> {
  id: number
  tags: string
}

const NODES_ABOVE_COLUMNS = columns<
  Omit<RecordedNode, 'parents' | 'mode'> & { parents: Parent[] | null; mode: ParentsMode | null }
>()('c.id, c.uuid, c.name, c.tags, c.grace_seconds, r.parents, r.parents_mode AS mode')

/** Nearest first. */
export async function nodesAbove(
  db: Knex,
  projectId: number,
  child: { uuid: string; parents: readonly Parent[] },
): Promise<RecordedNode[]> {
  const found = new Map<string, RecordedNode>()
  let parents = child.parents
  for (let level = 0; level < MAX_LEVELS && parents.length > 0 && found.size < MAX_ABOVE; level++) {
    const uuids = parents.flatMap((parent) => ('check' in parent ? [parent.check] : []))
    const tags = parents.flatMap((parent) => ('tag' in parent ? [parent.tag] : []))
    const rows = await query(
      db,
      typed`SELECT ${NODES_ABOVE_COLUMNS} FROM checks c LEFT JOIN check_rules r ON r.check_id = c.id
       WHERE c.project_id = ? AND (c.uuid = ANY(?::uuid[]) OR regexp_split_to_array(c.tags, '\\s+') && ?::text[])
         AND c.uuid <> ALL(?::uuid[])
       ORDER BY c.id LIMIT ?`,
      [projectId, uuids, tags, [child.uuid, ...found.keys()], MAX_ABOVE - found.size],
    )
    const nodes = rows.map((row) => ({ ...row, parents: row.parents ?? [], mode: row.mode ?? ('any' as const) }))
    for (const node of nodes) found.set(node.uuid, node)
    parents = nodes.flatMap((node) => node.parents)
  }
  return [...found.values()]
}

export interface RecordedOutage {
  tags: string
  policyId: number | null
  from: Micros
  until: Micros | null
}

const RECORDED_OUTAGE_COLUMNS = columns<RecordedOutage>()(`
  c.tags, r.policy_id, ${microsOf('i.down_at')} AS from, ${microsOf('i.resolved_at')} AS until`)

export async function outagesBeside(
  db: Knex,
  { projectId, checkId, since }: { projectId: number; checkId: number; since: Micros },
): Promise<RecordedOutage[]> {
  return await query(
    db,
    typed`SELECT ${RECORDED_OUTAGE_COLUMNS}
     FROM incidents i JOIN checks c ON c.id = i.check_id LEFT JOIN check_rules r ON r.check_id = c.id
     WHERE i.project_id = ? AND i.check_id <> ? AND i.down_at >= ${timestampOf('?::bigint')}
     ORDER BY i.down_at DESC LIMIT ?`,
    [projectId, checkId, since, MAX_OUTAGES],
  )
}

/** Failures of Signalbox refused these pings. Ascending. */
export async function refusalsOf(db: Knex, checkId: number): Promise<Micros[]> {
  const rows = await query<{ at: Micros }>(
    db,
    `SELECT ${microsOf('last_at')} AS at FROM refused_pings WHERE check_id = ? AND reason <> 'secret' ORDER BY last_at`,
    [checkId],
  )
  return rows.map(({ at }) => at)
}
