import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { queuesOf } from '#shared/contracts/ping-generations.ts'
import { liveGenerations } from '#shared/platform/database/ping-shards.ts'
import { eventually } from '../support/eventually.ts'
import type { Kind } from './processes.ts'
import type { SoakBroker } from './servers.ts'
import { type Fault, type FaultStage, frozen, ofKind, oneOf } from './stage.ts'

/** Free disk space that no machine has. */
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

async function restartBrokers(these: readonly SoakBroker[], awaySeconds: number, stage: FaultStage): Promise<void> {
  try {
    await Promise.all(these.map(({ node }) => node.kill()))
    await stage.hold(awaySeconds)
  } finally {
    // Together: of nodes that all went down, the first to come waits for the last to have gone.
    await Promise.all(these.map(({ node }) => node.start()))
  }
}

const clusterStatus = z.object({ running_nodes: z.array(z.string()), partitions: z.record(z.string(), z.unknown()) })

/**
 * Restarts nodes that are separated from the others, as docs/scale.md instructs operators: a node that was frozen until
 * the cluster removed it stays separated when it continues, and a queue declared beside it may never be formed.
 */
async function reunite({ servers: { brokers } }: FaultStage): Promise<void> {
  for (const { node } of brokers) {
    let isApart = false
    await eventually(
      'a node to be with the others, or apart from them',
      async () => {
        const output = await node.ctl('cluster_status', '--quiet', '--formatter', 'json')
        const { running_nodes, partitions } = clusterStatus.parse(JSON.parse(output))
        isApart = Object.keys(partitions).length > 0 && running_nodes.length <= brokers.length / 2
        return Object.keys(partitions).length > 0 || running_nodes.length === brokers.length
      },
      60_000,
    )
    if (!isApart) continue
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
    name: 'every process restarted in turn',
    async run({ processes }) {
      for (const one of processes) {
        await one.stop()
        await one.start()
        while ((await one.complaint()) !== null) await sleep(100)
      }
    },
  },
  {
    name: 'clock of a listener 30 s ahead',
    async run(stage) {
      const one = ofKind(stage, 'listener')
      await one.stop()
      await one.start({ CLOCK_SKEW_MS: '30000' })
      while ((await one.complaint()) !== null) await sleep(100)
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
    name: 'broker: two nodes of three gone for 25 s',
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
    repair: reunite,
  },
  {
    name: 'broker: the leader frozen for 40 s',
    needs: 'cluster',
    run: async (stage) => await frozen((await leader(stage)).node, 40, stage),
    repair: reunite,
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
      for (const { way } of servers.brokers) way.cut()
    },
  },
  {
    name: 'network: every connection to the database cut',
    async run({ servers }) {
      for (const way of servers.databaseWays) way.cut()
    },
  },
  {
    name: 'network: a way to a broker silent for 15 s',
    async run(stage) {
      const { way } = oneOf(stage.servers.brokers, stage)
      way.blackhole(true)
      await stage.hold(15)
      way.cut()
      way.restore()
    },
  },
  {
    name: 'network: a broker stalls for 4 s',
    async run(stage) {
      const { way } = oneOf(stage.servers.brokers, stage)
      way.hold(true)
      await stage.hold(4)
      way.hold(false)
    },
  },
  {
    name: 'network: the database silent for 15 s',
    async run({ servers, hold }) {
      for (const way of servers.databaseWays) way.blackhole(true)
      await hold(15)
      for (const way of servers.databaseWays) {
        way.cut()
        way.restore()
      }
    },
  },
  {
    name: 'network: every way 100 ms slower for 20 s',
    async run({ servers, hold }) {
      const ways = [...servers.brokers.map(({ way }) => way), ...servers.databaseWays]
      for (const way of ways) way.delay(100)
      await hold(20)
      for (const way of ways) way.delay(0)
    },
  },
]

/** Pings go to another number of queues, and those before it are read to their end. @param meanwhile what happens beside */
const resharded = (name: string, meanwhile: (stage: FaultStage) => Promise<void>): Fault => ({
  name,
  async run(stage) {
    const { db, admin } = stage
    const isOver = async () => (await liveGenerations(db)).slice(0, -1).every(({ isDrained }) => isDrained)
    await eventually('the change before to be over', isOver)
    const before = (await liveGenerations(db)).at(-1)?.shards ?? 0
    await Promise.all([meanwhile(stage), admin('shards', 'set', '--to', String((before % 4) + 1))])
    await eventually('the former queues to be read to their end', isOver)
  },
})

const queueFaults: readonly Fault[] = [
  resharded('queues: another number of them', async () => {}),
  resharded('queues: another number of them while an evaluator is frozen for 20 s', (stage) =>
    frozen(ofKind(stage, 'evaluator'), 20, stage),
  ),
  resharded('queues: another number of them while a listener is frozen for 20 s', (stage) =>
    frozen(ofKind(stage, 'listener'), 20, stage),
  ),
  resharded('queues: another number of them while an evaluator is killed', (stage) => killed('evaluator').run(stage)),
]

/** Everything that a soak does to the product. */
export const faults: readonly Fault[] = [
  ...processFaults,
  ...brokerFaults,
  ...databaseFaults,
  ...networkFaults,
  ...queueFaults,
]
