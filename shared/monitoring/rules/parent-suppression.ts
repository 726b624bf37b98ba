import { type Micros, microsOfSeconds } from '../../time.ts'
import type { Incident, Suppression } from '../alerting/incident.ts'
import type { CheckSchedule } from '../checks/check.ts'
import { nextOccurrence } from '../schedules/schedule.ts'
import { type Graph, graphOf, type Node, parentsOf, parentsState } from './parents.ts'

/** Maximum wait for a late parent; it is checked every RECHECK_AFTER. */
const MAX_PARENT_WAIT: Micros = microsOfSeconds(300)
const RECHECK_AFTER: Micros = microsOfSeconds(10)
/** Maximum wait for a ping of the child after its parent came up. */
const MAX_RECOVERY_WAIT: Micros = microsOfSeconds(3600)

export interface TimedNode extends Node {
  isUp: boolean
  downAt: Micros | null
  upAt: Micros | null
}

export interface ParentSuppression {
  suppression: Suppression | null
  isInCycle: boolean
}

const NONE: ParentSuppression = { suppression: null, isInCycle: false }

export interface Relatives {
  graph: Graph
  byUuid: ReadonlyMap<string, TimedNode>
}

export function relativesOf(nodes: readonly TimedNode[]): Relatives {
  return { graph: graphOf(nodes), byUuid: new Map(nodes.map((node) => [node.uuid, node])) }
}

/** See docs/spec/alerting.md#dependencies. `downAt` is the beginning of the check's outage. */
export function suppressedByParents(
  check: CheckSchedule & { uuid: string },
  incident: Incident | null,
  { graph, byUuid }: Relatives,
  { downAt, now }: { downAt: Micros; now: Micros },
): ParentSuppression {
  const node = byUuid.get(check.uuid)
  if (!node || node.parents.length === 0) return NONE
  const above = parentsState(node, graph)
  if (above.kind === 'cycle') return { suppression: null, isInCycle: true }
  if (above.kind === 'down') {
    const detail = { check: above.root.uuid, name: above.root.name || above.root.uuid }
    const since = byUuid.get(above.root.uuid)?.downAt ?? downAt
    return { suppression: { reason: 'PARENT_DOWN', since, until: null, detail }, isInCycle: false }
  }
  if (above.kind === 'late') {
    const until = Math.min(downAt + MAX_PARENT_WAIT, now + RECHECK_AFTER)
    const detail = { check: above.parent.uuid, name: above.parent.name || above.parent.uuid }
    return { suppression: { reason: 'PARENT_LATE', since: downAt, until, detail }, isInCycle: false }
  }
  const parents = parentsOf(node, graph).flatMap(({ uuid }) => byUuid.get(uuid) ?? [])
  return { suppression: chanceOf(check, incident, cameUp(parents, downAt)), isInCycle: false }
}

function cameUp(parents: readonly TimedNode[], since: Micros): TimedNode | null {
  const up = parents.filter(({ isUp, upAt }) => isUp && upAt !== null && upAt > since)
  return up.sort((a, b) => (b.upAt ?? 0) - (a.upAt ?? 0))[0] ?? null
}

/** Waits for the child's next expected ping after its parent came up. */
function chanceOf(check: CheckSchedule, incident: Incident | null, parent: TimedNode | null): Suppression | null {
  const upAt = parent?.upAt ?? null
  if (incident?.suppression !== 'PARENT_DOWN' || incident.firstStep !== null || !parent || upAt === null) return null
  const due =
    check.kind === 'simple'
      ? upAt + microsOfSeconds(check.timeoutSeconds)
      : (nextOccurrence(check.kind, check.schedule, check.tz, upAt) ?? upAt)
  const until = Math.min(due + microsOfSeconds(check.graceSeconds), upAt + MAX_RECOVERY_WAIT)
  const detail = { check: parent.uuid, name: parent.name || parent.uuid }
  return { reason: 'PARENT_DOWN', since: Math.min(upAt, incident.downAt), until, detail }
}
