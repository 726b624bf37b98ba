/** A dependency on one check, or on all other checks with a tag (docs/spec/alerting.md#dependencies). */
export type Parent = { check: string } | { tag: string }
export type ParentsMode = 'any' | 'all'

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

export type ParentsState =
  | { kind: 'none' }
  /** the parents form a cycle, so no check above would notify */
  | { kind: 'cycle' }
  | { kind: 'late'; parent: Node }
  | { kind: 'down'; parent: Node; root: Node }

export const MAX_LEVELS = 8

export function graphOf(nodes: readonly Node[]): Graph {
  const byUuid = new Map(nodes.map((node) => [node.uuid, node]))
  const byTag = new Map<string, Node[]>()
  for (const node of nodes) {
    for (const tag of new Set(node.tags)) byTag.set(tag, [...(byTag.get(tag) ?? []), node])
  }
  return { node: (uuid) => byUuid.get(uuid), withTag: (tag) => byTag.get(tag) ?? [] }
}

/** Omits duplicates and the check itself. */
export function parentsOf(node: Node, graph: Graph): Node[] {
  const found = node.parents.flatMap((parent) =>
    'check' in parent ? (graph.node(parent.check) ?? []) : graph.withTag(parent.tag),
  )
  return [...new Set(found)].filter(({ uuid }) => uuid !== node.uuid)
}

/** A parent suppresses only if it is down and not suppressed itself, because it notifies. */
export function parentsState(child: Node, graph: Graph): ParentsState {
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

export function cycleOf(start: Node, graph: Graph): Node[] | null {
  // parentsOf omits the check itself, so a direct self-reference needs this test.
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

export function dependentsText(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '1 check depends on it.' : `${count} checks depend on it.`
}
