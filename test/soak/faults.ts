import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { queuesOf } from '#shared/contracts/ping-generations.ts'
import { liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { eventually } from '../support/eventually.ts'
import type { Kind } from './processes.ts'
import type { SoakBroker } from './servers.ts'
import { type Fault, type FaultStage, frozen, ofKind, oneOf } from './stage.ts'

/** More free disk space than any machine has. */
const HUGE = 100_000_000_000_000
const DISK_LIMIT = 50_000_000
const MEMORY_FRACTION = 0.4

/** Returns the broker that leads the first ping queue, according to a broker that answers. */
async function leader({ db, servers: { brokers } }: FaultStage): Promise<SoakBroker> {
  const [first = 0] = (await liveGenerations(db)).slice(-1).flatMap(queuesOf)
  const queue = pingQueue(first)
  const output = (await brokers[0]?.node.ctl('list_queues', '--quiet', 'name', 'leader')) ?? ''
  const line = output.split('\n').find((one) => one.startsWith(`${queue}\t`)) ?? ''
  const found = brokers.find(({ node }) => line.includes(`signalbox-${node.port}@`))
  if (!found) throw new Error(`no node leads ${queue}: ${output}`)
  return found
}

async function restartBrokers(nodes: readonly SoakBroker[], downSeconds: number, stage: FaultStage): Promise<void> {
  try {
    await Promise.all(nodes.map(({ node }) => node.kill()))
    await stage.hold(downSeconds)
  } finally {
    // All at once, because the first node to start waits for the node that stopped last.
    await Promise.all(nodes.map(({ node }) => node.start()))
  }
}

const clusterStatus = z.object({ running_nodes: z.array(z.string()), partitions: z.record(z.string(), z.unknown()) })

/**
 * Restarts partitioned nodes, as docs/scale.md instructs operators. A node that was frozen until the cluster removed it
 * stays partitioned, and a queue that is declared then may never get a leader.
 */
async function restartPartitioned({ servers: { brokers } }: FaultStage): Promise<void> {
  for (const { node } of brokers) {
    let isPartitioned = false
    await eventually(
      'a node to be in the cluster or partitioned',
      async () => {
        const output = await node.ctl('cluster_status', '--quiet', '--formatter', 'json')
        const { running_nodes, partitions } = clusterStatus.parse(JSON.parse(output))
        isPartitioned = Object.keys(partitions).length > 0 && running_nodes.length <= brokers.length / 2
        return Object.keys(partitions).length > 0 || running_nodes.length === brokers.length
      },
      60_000,
    )
    if (!isPartitioned) continue
    await node.kill()
    await node.start()
  }
}

const killed = (kind: Kind): Fault => ({
  name: `kill -9 of ${kind}`,
  async run(stage) {
    const one = ofKind(stage, kind)
    await one.kill()
    await stage.hold(5)
    await one.start()
  },
})

const stopped = (kind: Kind): Fault => ({
  name: `${kind} frozen for 20 s`,
  run: async (stage) => await frozen(ofKind(stage, kind), 20, stage),
})

const processFaults: readonly Fault[] = [
  killed('listener'),
  killed('evaluator'),
  killed('alerts'),
  killed('evidence'),
  stopped('evaluator'),
  stopped('alerts'),
  stopped('evidence'),
  {
    name: 'every process restarted one after the other',
    async run({ processes }) {
      for (const one of processes) {
        await one.stop()
        await one.start()
        while ((await one.unreadyReason()) !== null) await sleep(100)
      }
    },
  },
  {
    name: 'clock of a listener 30 s ahead',
    async run(stage) {
      const one = ofKind(stage, 'listener')
      await one.stop()
      await one.start({ CLOCK_SKEW_MS: '30000' })
      while ((await one.unreadyReason()) !== null) await sleep(100)
      await stage.hold(15)
      await one.stop()
      await one.start()
    },
  },
  {
    name: 'receivers of alerts refuse for 10 s',
    async run({ receivers, hold }) {
      receivers.refuse(true)
      await hold(10)
      receivers.refuse(false)
    },
  },
]

const brokerFaults: readonly Fault[] = [
  {
    name: 'broker: kill -9 of a node for 15 s',
    run: async (stage) => await restartBrokers([oneOf(stage.servers.brokers, stage)], 15, stage),
  },
  {
    name: 'broker: kill -9 of the leader for 15 s',
    needs: 'cluster',
    run: async (stage) => await restartBrokers([await leader(stage)], 15, stage),
  },
  {
    name: 'broker: two nodes of three killed for 25 s',
    needs: 'cluster',
    async run(stage) {
      const left = oneOf(stage.servers.brokers, stage)
      await restartBrokers(
        stage.servers.brokers.filter((broker) => broker !== left),
        25,
        stage,
      )
    },
  },
  {
    name: 'broker: all nodes killed at once',
    needs: 'cluster',
    run: async (stage) => await restartBrokers(stage.servers.brokers, 2, stage),
  },
  {
    name: 'broker: a node frozen for 40 s',
    needs: 'cluster',
    run: async (stage) => await frozen(oneOf(stage.servers.brokers, stage).node, 40, stage),
    repair: restartPartitioned,
  },
  {
    name: 'broker: the leader frozen for 40 s',
    needs: 'cluster',
    run: async (stage) => await frozen((await leader(stage)).node, 40, stage),
    repair: restartPartitioned,
  },
  {
    name: 'broker: alarm of memory for 10 s',
    async run(stage) {
      const { node } = oneOf(stage.servers.brokers, stage)
      await node.setMemoryWatermark(0)
      await stage.hold(10)
      await node.setMemoryWatermark(MEMORY_FRACTION)
    },
  },
  {
    name: 'broker: alarm of disk space for 10 s',
    async run(stage) {
      const { node } = oneOf(stage.servers.brokers, stage)
      await node.setDiskLimit(HUGE)
      await stage.hold(10)
      await node.setDiskLimit(DISK_LIMIT)
    },
  },
]

const databaseFaults: readonly Fault[] = [
  {
    name: 'database: kill -9 for 10 s',
    async run({ servers, hold }) {
      const server = servers.primary()
      await server.kill()
      await hold(10)
      await server.start()
    },
  },
  {
    name: 'database: frozen for 20 s',
    run: async (stage) => await frozen(stage.servers.primary(), 20, stage),
  },
  {
    name: 'database: the primary lost, its standby promoted',
    needs: 'standby',
    run: async ({ servers }) => await servers.failOver(),
  },
  {
    name: 'database: the standby frozen for 15 s',
    needs: 'standby',
    run: async (stage) => await frozen(stage.servers.standby(), 15, stage),
  },
]

const networkFaults: readonly Fault[] = [
  {
    name: 'network: every connection to the brokers cut',
    async run({ servers }) {
      for (const { proxy } of servers.brokers) proxy.cut()
    },
  },
  {
    name: 'network: every connection to the database cut',
    async run({ servers }) {
      for (const proxy of servers.databaseProxies) proxy.cut()
    },
  },
  {
    name: 'network: a broker unreachable for 15 s',
    async run(stage) {
      const { proxy } = oneOf(stage.servers.brokers, stage)
      proxy.blackhole(true)
      await stage.hold(15)
      proxy.cut()
      proxy.restore()
    },
  },
  {
    name: 'network: a broker stalls for 4 s',
    async run(stage) {
      const { proxy } = oneOf(stage.servers.brokers, stage)
      proxy.hold(true)
      await stage.hold(4)
      proxy.hold(false)
    },
  },
  {
    name: 'network: the database unreachable for 15 s',
    async run({ servers, hold }) {
      for (const proxy of servers.databaseProxies) proxy.blackhole(true)
      await hold(15)
      for (const proxy of servers.databaseProxies) {
        proxy.cut()
        proxy.restore()
      }
    },
  },
  {
    name: 'network: 100 ms latency for 20 s',
    async run({ servers, hold }) {
      const proxies = [...servers.brokers.map(({ proxy }) => proxy), ...servers.databaseProxies]
      for (const proxy of proxies) proxy.delay(100)
      await hold(20)
      for (const proxy of proxies) proxy.delay(0)
    },
  },
]

/** Changes the number of ping queues and waits until the old ones are drained. @param meanwhile concurrent fault */
const resharded = (name: string, meanwhile: (stage: FaultStage) => Promise<void>): Fault => ({
  name,
  async run(stage) {
    const { db, admin } = stage
    const isOver = async () => (await liveGenerations(db)).slice(0, -1).every(({ isDrained }) => isDrained)
    await eventually('the previous change to be complete', isOver)
    const before = (await liveGenerations(db)).at(-1)?.shards ?? 0
    await Promise.all([meanwhile(stage), admin('shards', 'set', '--to', String((before % 4) + 1))])
    await eventually('the old queues to be drained', isOver)
  },
})

const queueFaults: readonly Fault[] = [
  resharded('queues: resharding', async () => {}),
  resharded('queues: resharding while an evaluator is frozen for 20 s', (stage) =>
    frozen(ofKind(stage, 'evaluator'), 20, stage),
  ),
  resharded('queues: resharding while a listener is frozen for 20 s', (stage) =>
    frozen(ofKind(stage, 'listener'), 20, stage),
  ),
  resharded('queues: resharding while an evaluator is killed', (stage) => killed('evaluator').run(stage)),
]

/** All faults of a soak. */
export const faults: readonly Fault[] = [
  ...processFaults,
  ...brokerFaults,
  ...databaseFaults,
  ...networkFaults,
  ...queueFaults,
]
