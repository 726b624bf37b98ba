/** A node of a RabbitMQ cluster, as its management plugin tells. */
export interface BrokerNode {
  name: string
  running: boolean
  /** nodes that this one takes for gone though they are not */
  partitions: readonly string[]
  /** publishers of the whole cluster are blocked while one has an alarm */
  alarms: readonly string[]
}

/** Where a replicated queue lives. */
export interface QueueMembers {
  queue: string
  /** names of nodes */
  members: readonly string[]
  online: readonly string[]
  leader: string | null
}

export interface ClusterState {
  nodes: readonly BrokerNode[]
  queues: readonly QueueMembers[]
}

/** What an operator has to know of a cluster; each list is empty when it is well. */
export interface ClusterIlls {
  /** queues that live on fewer nodes than they could, and the nodes that lack */
  missing: readonly { queue: string; has: number; nodes: readonly string[] }[]
  /** members that do not take part at the moment: the queue survives one loss less */
  offline: readonly { queue: string; nodes: readonly string[] }[]
  /** one node leads more than half of the queues, and their traffic with them */
  leads: { node: string; queues: number; of: number } | null
  partitioned: readonly string[]
  alarms: readonly string[]
}

/** Members that a durable queue of ours should have; more make it slower and hardly safer. */
const WANTED_MEMBERS = 3
/** Of fewer queues, half is chance. */
const LEADERS_MATTER_FROM = 4

/** A queue that was declared while one node stood keeps one member when others join (docs/spec/reliability.md#broker-faults). */
export function evaluateCluster({ nodes, queues }: ClusterState): ClusterIlls {
  const wanted = Math.min(WANTED_MEMBERS, nodes.length)
  const running = nodes.filter((node) => node.running).map(({ name }) => name)
  const led = Map.groupBy(queues, ({ leader }) => leader ?? '')
  const most = [...led].filter(([node]) => node !== '').sort(([, a], [, b]) => b.length - a.length)[0]
  const isLopsided =
    most !== undefined &&
    running.length > 1 &&
    queues.length >= LEADERS_MATTER_FROM &&
    most[1].length > queues.length / 2
  return {
    missing: queues
      .filter(({ members }) => members.length < wanted)
      .map(({ queue, members }) => ({
        queue,
        has: members.length,
        nodes: running.filter((name) => !members.includes(name)).slice(0, wanted - members.length),
      })),
    offline: queues
      .map(({ queue, members, online }) => ({ queue, nodes: members.filter((name) => !online.includes(name)) }))
      .filter((queue) => queue.nodes.length > 0),
    leads: isLopsided ? { node: most[0], queues: most[1].length, of: queues.length } : null,
    partitioned: nodes.filter(({ partitions }) => partitions.length > 0).map(({ name }) => name),
    alarms: nodes.flatMap(({ name, alarms }) => alarms.map((alarm) => `${name}: ${alarm}`)),
  }
}
