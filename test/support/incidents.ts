import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'

/** Stores an open incident of a check that no worker evaluates. `minutes` since the flip. @returns its id */
export async function addIncident(
  db: Knex,
  { projectId, checkId }: { projectId: number; checkId: number },
  { minutes = 10, ...columns }: Readonly<Record<string, unknown>> & { minutes?: number } = {},
): Promise<string> {
  const id = randomUUID()
  const at = db.raw(`now() - make_interval(mins => ${minutes})`)
  await db('incidents').insert({
    id,
    project_id: projectId,
    check_id: checkId,
    state: 'alerting',
    is_direct: true,
    severity: 'critical',
    down_at: at,
    alert_at: at,
    evaluated_at: at,
    ...columns,
  })
  return id
}
