import type { Knex } from 'knex'
import type { AlertedCheck } from '#shared/monitoring/alerting/fact-store.ts'
import type { Gate, Incident } from '#shared/monitoring/alerting/incident.ts'
import { nodesOf, type StoredNode } from '#shared/monitoring/dependencies/parent-store.ts'
import { type Graph, graphOf, holdOf, parentsOf } from '#shared/monitoring/dependencies/parents.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'

/** A late parent is waited for at most so long; whether it came is looked at again and again. */
const LONGEST_LATE: Micros = microsOfSeconds(300)
const LOOK_AGAIN: Micros = microsOfSeconds(10)
/** What a child gets at most to be heard after its parent came back. */
const LONGEST_CHANCE: Micros = microsOfSeconds(3600)

interface Held {
  gate: Gate | null
  isInCycle: boolean
}

const FREE: Held = { gate: null, isInCycle: false }

/** What the checks that others depend on hold (alerting 4). @param children those that have parents */
export async function loadParents(
  tx: Knex,
  children: readonly AlertedCheck[],
  now: Micros,
): Promise<(check: AlertedCheck, incident: Incident | null, downAt: Micros) => Held> {
  const projectIds = [...new Set(children.map(({ projectId }) => projectId))]
  const nodes = projectIds.length === 0 ? [] : await nodesOf(tx, projectIds, now)
  const graphs = new Map<number, Graph>(
    [...Map.groupBy(nodes, ({ projectId }) => projectId)].map(([id, own]) => [id, graphOf(own)]),
  )
  const byUuid = new Map(nodes.map((node) => [node.uuid, node]))

  return (check, incident, downAt) => {
    const graph = graphs.get(check.projectId)
    const node = byUuid.get(check.uuid)
    if (!graph || !node || node.parents.length === 0) return FREE
    const hold = holdOf(node, graph)
    if (hold.kind === 'cycle') return { gate: null, isInCycle: true }
    if (hold.kind === 'down') {
      const detail = { check: hold.root.uuid, name: hold.root.name || hold.root.uuid }
      const since = byUuid.get(hold.root.uuid)?.downAt ?? downAt
      return { gate: { reason: 'PARENT_DOWN', since, until: null, detail }, isInCycle: false }
    }
    if (hold.kind === 'late') {
      const until = Math.min(downAt + LONGEST_LATE, now + LOOK_AGAIN)
      const detail = { check: hold.parent.uuid, name: hold.parent.name || hold.parent.uuid }
      return { gate: { reason: 'PARENT_LATE', since: downAt, until, detail }, isInCycle: false }
    }
    return { gate: chanceOf(check, incident, cameUp(node, graph, byUuid)), isInCycle: false }
  }
}

/** The parent that came up last. */
function cameUp(node: StoredNode, graph: Graph, byUuid: ReadonlyMap<string, StoredNode>): StoredNode | null {
  const parents = parentsOf(node, graph).flatMap(({ uuid }) => byUuid.get(uuid) ?? [])
  const up = parents.filter(({ isUp, upAt }) => isUp && upAt !== null)
  return up.sort((a, b) => (b.upAt ?? 0) - (a.upAt ?? 0))[0] ?? null
}

/** A child that was held and told nobody yet gets one expected signal after its parent came back. */
function chanceOf(check: AlertedCheck, incident: Incident | null, parent: StoredNode | null): Gate | null {
  const upAt = parent?.upAt ?? null
  if (incident?.held !== 'PARENT_DOWN' || incident.firstStep !== null || !parent || upAt === null) return null
  const due =
    check.kind === 'simple'
      ? upAt + microsOfSeconds(check.timeoutSeconds)
      : (nextOccurrence(check.kind, check.schedule, check.tz, upAt) ?? upAt)
  const until = Math.min(due + microsOfSeconds(check.graceSeconds), upAt + LONGEST_CHANCE)
  const detail = { check: parent.uuid, name: parent.name || parent.uuid }
  return { reason: 'PARENT_DOWN', since: Math.min(upAt, incident.downAt), until, detail }
}
