import test from 'ava'
import { type BrokerNode, evaluateCluster, type QueueMembers } from '#shared/platform/broker/cluster-health.ts'

const node = (name: string, rest: Partial<BrokerNode> = {}): BrokerNode => ({
  ...{ name, running: true, partitions: [], alarms: [] },
  ...rest,
})
const queue = (name: string, members: string[], rest: Partial<QueueMembers> = {}): QueueMembers => ({
  ...{ queue: name, members, online: members, leader: members[0] ?? null },
  ...rest,
})
const three = [node('a'), node('b'), node('c')]

test('a queue lacks members only while other nodes could have one', (t) => {
  t.deepEqual(evaluateCluster({ nodes: [node('a')], queues: [queue('q', ['a'])] }).missing, [])
  t.deepEqual(evaluateCluster({ nodes: three, queues: [queue('q', ['b'])] }).missing, [
    { queue: 'q', has: 1, nodes: ['a', 'c'] },
  ])
  const [lacking] = evaluateCluster({
    nodes: [node('a'), node('b', { running: false }), node('c')],
    queues: [queue('q', ['a'])],
  }).missing
  t.deepEqual(lacking?.nodes, ['c'], 'a node that is down takes none')
  const four = [...three, node('d')]
  t.deepEqual(evaluateCluster({ nodes: four, queues: [queue('q', ['a', 'b', 'c'])] }).missing, [])
})

test('members that take no part, partitions and alarms are named with their nodes', (t) => {
  const ills = evaluateCluster({
    nodes: [node('a', { alarms: ['disk'] }), node('b', { partitions: ['c'] }), node('c')],
    queues: [queue('q', ['a', 'b', 'c'], { online: ['a', 'c'] })],
  })
  t.deepEqual(ills.offline, [{ queue: 'q', nodes: ['b'] }])
  t.deepEqual(ills.partitioned, ['b'])
  t.deepEqual(ills.alarms, ['a: disk'])
})

test('one node that leads more than half of the queues is named, half is not', (t) => {
  const led = (...leaders: string[]) =>
    evaluateCluster({
      nodes: three,
      queues: leaders.map((leader, index) => queue(`q${index}`, ['a', 'b', 'c'], { leader })),
    }).leads
  t.deepEqual(led('a', 'a', 'a', 'b'), { node: 'a', queues: 3, of: 4 })
  t.is(led('a', 'a', 'b', 'c'), null)
  t.is(led('a', 'a'), null, 'of two queues it is chance')
})
