export interface BrokerNode {
  name: string
  running: boolean
  /** nodes that this node wrongly considers down */
  partitions: readonly string[]
  alarms: readonly string[]
}

export interface QueueMembers {
  queue: string
  members: readonly string[]
  online: readonly string[]
  leader: string | null
}

export interface ClusterState {
  nodes: readonly BrokerNode[]
  queues: readonly QueueMembers[]
}

export interface ClusterIlls {
  missing: readonly { queue: string; has: number; nodes: readonly string[] }[]
  /** members that are offline: the queue tolerates one failure less */
  offline: readonly { queue: string; nodes: readonly string[] }[]
  /** the node that leads more than half of the queues, and so has most of the traffic */
  leads: { node: string; queues: number; of: number } | null
  partitioned: readonly string[]
  alarms: readonly string[]
}

/** Members of each durable queue. More members cost throughput and add little safety. */
const WANTED_MEMBERS = 3
/** With fewer queues, the share of a leader is random. */
const LEADERS_MATTER_FROM = 4

/** A queue declared on one node keeps one member when others join (docs/spec/reliability.md#broker-faults). */
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
