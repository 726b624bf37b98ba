import type { Knex } from 'knex'
import type { AlertedCheck } from '#shared/monitoring/alerting/fact-store.ts'
import type { Incident } from '#shared/monitoring/alerting/incident.ts'
import { nodesOf } from '#shared/monitoring/rules/parent-store.ts'
import { type Held, relativesOf, suppressedByParents } from '#shared/monitoring/rules/parent-suppression.ts'
import type { Micros } from '#shared/time.ts'

/** Loads the suppressions that parents cause (docs/spec/alerting.md#dependencies). @param children checks with parents */
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
    suppressedByParents(check, incident, relatives.get(check.projectId) ?? relativesOf([]), { downAt, now })
}
