import type { Knex } from 'knex'
import type { AlertedCheck } from '#shared/monitoring/alerting/fact-store.ts'
import type { Incident } from '#shared/monitoring/alerting/incident.ts'
import { type Held, heldByParents, relativesOf } from '#shared/monitoring/dependencies/hold.ts'
import { nodesOf } from '#shared/monitoring/dependencies/parent-store.ts'
import type { Micros } from '#shared/time.ts'

/** What the checks that others depend on hold (alerting 4). @param children those that have parents */
export async function loadParents(
  tx: Knex,
  children: readonly AlertedCheck[],
  now: Micros,
): Promise<(check: AlertedCheck, incident: Incident | null, downAt: Micros) => Held> {
  const projectIds = [...new Set(children.map(({ projectId }) => projectId))]
  const nodes = projectIds.length === 0 ? [] : await nodesOf(tx, projectIds, now)
  const relatives = new Map(
    [...Map.groupBy(nodes, ({ projectId }) => projectId)].map(([id, own]) => [id, relativesOf(own)]),
  )
  return (check, incident, downAt) =>
    heldByParents(check, incident, relatives.get(check.projectId) ?? relativesOf([]), { downAt, now })
}
