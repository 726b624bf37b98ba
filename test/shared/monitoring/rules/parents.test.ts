import test from 'ava'
import type { Incident } from '#shared/monitoring/alerting/incident.ts'
import { relativesOf, suppressedByParents, type TimedNode } from '#shared/monitoring/rules/parent-suppression.ts'
import { cycleOf, graphOf, type Node, parentsOf, parentsState } from '#shared/monitoring/rules/parents.ts'

const node = (uuid: string, state: Node['state'], more: Partial<Node> = {}): Node => ({
  uuid,
  name: uuid,
  tags: [],
  parents: [],
  mode: 'any',
  state,
  ...more,
})
const on = (...uuids: string[]) => ({ parents: uuids.map((check) => ({ check })) })
const kindOf = (child: Node, ...others: Node[]) => parentsState(child, graphOf([child, ...others])).kind

test('parents that are not down or late suppress nothing', (t) => {
  t.is(kindOf(node('web', 'down', on('router')), node('router', 'fine')), 'none')
  t.is(kindOf(node('web', 'down', on('deleted'))), 'none')
})

test('a late parent suppresses; with mode "all" only beside down parents', (t) => {
  t.is(kindOf(node('web', 'down', on('a', 'b')), node('a', 'fine'), node('b', 'late')), 'late')
  const all = node('web', 'down', { ...on('a', 'b'), mode: 'all' })
  t.is(kindOf(all, node('a', 'fine'), node('b', 'late')), 'none')
  t.is(kindOf(all, node('a', 'down'), node('b', 'late')), 'late')
})

test('mode "any" needs one down parent, mode "all" needs all', (t) => {
  const parents = [node('a', 'down'), node('b', 'fine')]
  t.is(kindOf(node('web', 'down', on('a', 'b')), ...parents), 'down')
  t.is(kindOf(node('web', 'down', { ...on('a', 'b'), mode: 'all' }), ...parents), 'none')
  t.is(kindOf(node('web', 'down', { ...on('a', 'b'), mode: 'all' }), node('a', 'down'), node('b', 'down')), 'down')
})

test('names the root cause above a suppressed parent', (t) => {
  const child = node('web', 'down', on('switch'))
  const result = parentsState(child, graphOf([child, node('switch', 'down', on('router')), node('router', 'down')]))
  t.like(result, { kind: 'down', parent: { uuid: 'switch' }, root: { uuid: 'router' } })
})

test('a cycle of parents that are down suppresses nothing', (t) => {
  t.is(kindOf(node('a', 'down', on('b')), node('b', 'down', on('a'))), 'cycle')
})

test('a tag selects all other checks with it as parents', (t) => {
  const web = node('web', 'down', { parents: [{ tag: 'router' }], tags: ['router'] })
  const graph = graphOf([web, node('r1', 'fine', { tags: ['router'] }), node('r2', 'down', { tags: ['router'] })])
  t.deepEqual(
    parentsOf(web, graph).map(({ uuid }) => uuid),
    ['r1', 'r2'],
  )
  t.is(parentsState(web, graph).kind, 'down')
})

test('returns a cycle in its order', (t) => {
  const nodes = [node('web', 'fine', on('router')), node('router', 'fine', on('web')), node('x', 'fine', on('web'))]
  const graph = graphOf(nodes)
  t.deepEqual(
    cycleOf(nodes[0] as Node, graph)?.map(({ uuid }) => uuid),
    ['web', 'router', 'web'],
  )
  t.is(cycleOf(nodes[2] as Node, graph), null)
  const self = node('self', 'fine', on('self'))
  t.deepEqual(cycleOf(self, graphOf([self])), [self, self], 'a check that names itself')
})

test('only a parent that came up since the outage delays its child', (t) => {
  const schedule = { kind: 'simple', timeoutSeconds: 60, graceSeconds: 60, schedule: '', tz: 'UTC' } as const
  const timed = (one: Node, upAt: number | null): TimedNode => ({ ...one, isUp: upAt !== null, downAt: null, upAt })
  const child = timed(node('web', 'down', on('a', 'b')), null)
  const incident = { suppression: 'PARENT_DOWN', firstStep: null, downAt: 1000 } as Incident
  const suppressionWith = (...parents: TimedNode[]) =>
    suppressedByParents({ ...schedule, uuid: 'web' }, incident, relativesOf([child, ...parents]), {
      downAt: 1000,
      now: 3000,
    }).suppression
  const wasPaused = timed(node('b', 'fine'), null)
  t.is(suppressionWith(timed(node('a', 'fine'), 900), wasPaused), null)
  t.like(suppressionWith(timed(node('a', 'fine'), 2000), wasPaused), {
    reason: 'PARENT_DOWN',
    until: 2000 + 120_000_000,
    detail: { name: 'a' },
  })
})

const SCENARIOS = 20_000

test(`property 3: a suppressed check has an unsuppressed ancestor that is down`, (t) => {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
  let suppression = 0
  for (let scenario = 0; scenario < SCENARIOS; scenario++) {
    const size = 2 + Math.floor(random() * 8)
    const names = Array.from({ length: size }, (_, index) => `n${index}`)
    const nodes = names.map((uuid) =>
      node(uuid, random() < 0.6 ? 'down' : random() < 0.5 ? 'late' : 'fine', {
        mode: random() < 0.5 ? 'any' : 'all',
        parents: names.filter(() => random() < 0.3).map((check) => ({ check })),
      }),
    )
    const graph = graphOf(nodes)
    for (const child of nodes) {
      if (parentsState(child, graph).kind !== 'down') continue
      suppression += 1
      const ancestors = new Set<Node>()
      const walk = (one: Node) => {
        for (const parent of parentsOf(one, graph)) {
          if (parent.state !== 'down' || ancestors.has(parent)) continue
          ancestors.add(parent)
          walk(parent)
        }
      }
      walk(child)
      ancestors.delete(child)
      if (![...ancestors].some((one) => parentsState(one, graph).kind !== 'down'))
        t.fail(`scenario ${scenario}: ${child.uuid}`)
    }
  }
  t.true(suppression > SCENARIOS)
})
