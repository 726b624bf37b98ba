/** A dependency of a check: one check, or all checks with a tag but itself (docs/spec/alerting.md#dependencies). */
export type Parent = { check: string } | { tag: string }
export type ParentsMode = 'any' | 'all'

/** A check as a node of the graph. */
export interface Node {
  uuid: string
  name: string
  tags: readonly string[]
  parents: readonly Parent[]
  mode: ParentsMode
  state: 'down' | 'late' | 'fine'
}

export interface Graph {
  node(uuid: string): Node | undefined
  withTag(tag: string): readonly Node[]
}

export type Hold =
  | { kind: 'none' }
  /** every way up ends in a ring: nobody else would tell */
  | { kind: 'cycle' }
  | { kind: 'late'; parent: Node }
  | { kind: 'down'; parent: Node; root: Node }

/** Levels that are walked up. */
export const MAX_LEVELS = 8

export function graphOf(nodes: readonly Node[]): Graph {
  const byUuid = new Map(nodes.map((node) => [node.uuid, node]))
  const byTag = new Map<string, Node[]>()
  for (const node of nodes) {
    for (const tag of new Set(node.tags)) byTag.set(tag, [...(byTag.get(tag) ?? []), node])
  }
  return { node: (uuid) => byUuid.get(uuid), withTag: (tag) => byTag.get(tag) ?? [] }
}

/** The parents of a check that are there, each once; a check is no parent of itself. */
export function parentsOf(node: Node, graph: Graph): Node[] {
  const found = node.parents.flatMap((parent) =>
    'check' in parent ? (graph.node(parent.check) ?? []) : graph.withTag(parent.tag),
  )
  return [...new Set(found)].filter(({ uuid }) => uuid !== node.uuid)
}

/**
 * Whether a check's tellings are held by what it depends on. It is held only if, walking up through parents that are
 * down, one is found that its own parents do not hold: that one tells. So a ring suppresses nobody.
 */
export function holdOf(child: Node, graph: Graph): Hold {
  const parents = parentsOf(child, graph)
  if (isBelowDown(child, parents)) {
    const root = rootAbove(child, graph)
    const parent = parents.find(({ state }) => state === 'down')
    if (!root || !parent) return { kind: 'cycle' }
    return { kind: 'down', parent, root }
  }
  const late = parents.find(({ state }) => state === 'late')
  const isOtherwiseDown = parents.every(({ state }) => state !== 'fine')
  if (late && (child.mode === 'any' || isOtherwiseDown)) return { kind: 'late', parent: late }
  return { kind: 'none' }
}

function isBelowDown({ mode }: Node, parents: readonly Node[]): boolean {
  const down = parents.filter(({ state }) => state === 'down').length
  return mode === 'any' ? down > 0 : down > 0 && down === parents.length
}

/** The nearest check above that is down and that nothing above it holds. */
function rootAbove(child: Node, graph: Graph): Node | null {
  const seen = new Set([child.uuid])
  let level = [child]
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0; depth++) {
    const above: Node[] = []
    for (const parent of level.flatMap((node) => parentsOf(node, graph))) {
      if (parent.state !== 'down' || seen.has(parent.uuid)) continue
      seen.add(parent.uuid)
      if (!isBelowDown(parent, parentsOf(parent, graph))) return parent
      above.push(parent)
    }
    level = above
  }
  return null
}

/** Returns the ring that a check's parents lead back into, from the check to itself; null without one. */
export function cycleOf(start: Node, graph: Graph): Node[] | null {
  // A tag leaves the check itself out; naming it is a ring of one.
  if (start.parents.some((parent) => 'check' in parent && parent.check === start.uuid)) return [start, start]
  const seen = new Set<string>()
  const walk = (node: Node, path: readonly Node[]): Node[] | null => {
    for (const parent of parentsOf(node, graph)) {
      if (parent.uuid === start.uuid) return [...path, parent]
      if (seen.has(parent.uuid)) continue
      seen.add(parent.uuid)
      const found = walk(parent, [...path, parent])
      if (found) return found
    }
    return null
  }
  return walk(start, [start])
}

/** `14 checks depend on it.`; empty when none does. */
export function dependentsText(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '1 check depends on it.' : `${count} checks depend on it.`
}
