import { deadLetterQueueOf } from '#shared/contracts/define-message.ts'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { type PingGeneration, queuesOf } from '#shared/contracts/ping-generations.ts'
import { durableQueues } from '#shared/contracts/topology.ts'
import { brokerManagement } from '#shared/platform/broker/management.ts'
import {
  findDeletableGenerations,
  retiredGenerations,
  retireGeneration,
} from '#shared/platform/database/ping-shards.ts'
import { readReplication } from '#shared/platform/database/server.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../../define-worker.ts'
import type { Sweep } from '../sweep.ts'

/** Sets metrics, and logs the first result and each change. A process remains ready without standbys. */
export function servers(): Sweep {
  let reported = ''
  return {
    name: 'servers',
    everySeconds: 30,
    async run({ deps }) {
      await inspectBroker(deps).catch((error: unknown) =>
        deps.log.warn(describeError(error), 'broker-cluster.not-inspected'),
      )
      const state = await readReplication(deps.reserveDb)
      const { standbys, isSynchronous } = state
      const { metrics, config } = deps
      metrics.standbys.set(standbys)
      metrics.syncStandbys.set(isSynchronous ? standbys : 0)
      metrics.syncStandbysWanted.set(config.databaseSyncStandbys)
      const isEnough = config.databaseSyncStandbys <= (isSynchronous ? standbys : 0)
      if (reported === JSON.stringify(state)) return
      reported = JSON.stringify(state)
      deps.log[isEnough ? 'info' : 'error']({ ...state, wanted: config.databaseSyncStandbys }, 'database.standbys')
    },
  }
}

async function inspectBroker({ config, log, metrics, installation }: WorkerDeps): Promise<void> {
  if (config.amqpAdminUrl === undefined) return
  const management = brokerManagement(config.amqpAdminUrl, config.amqpUrl, log)
  const state = await management.state(durableQueues(installation.generations().flatMap(queuesOf)))
  for (const { queue, online } of state.queues) metrics.queueMembers.set({ queue }, online.length)
  metrics.brokerNodes.set({ state: 'known' }, state.nodes.length)
  metrics.brokerNodes.set({ state: 'running' }, state.nodes.filter(({ running }) => running).length)
  metrics.brokerNodes.set({ state: 'partitioned' }, state.nodes.filter((node) => node.partitions.length > 0).length)
  metrics.brokerNodes.set({ state: 'alarmed' }, state.nodes.filter(({ alarms }) => alarms.length > 0).length)
}

const BARRIER_TIMEOUT_MS = 2_000

/** RabbitMQ also reports a queue as empty if its leader does not respond within 250 ms, so one report is not enough. */
const TIMES_EMPTY = 3

/** Deletes empty queues of a retired generation (docs/adr/0007), after every process knows it. */
export function deleteRetiredQueues(): Sweep {
  const timesEmpty = new Map<string, number>()

  /** Counts the inspection. Returns the existing queues. */
  async function inspect({ broker }: WorkerDeps, names: readonly string[]): Promise<string[]> {
    const found = await broker.inspect(names)
    for (const name of names) {
      const isEmpty = (found.get(name)?.messages ?? 0) === 0
      timesEmpty.set(name, isEmpty ? (timesEmpty.get(name) ?? 0) + 1 : 0)
    }
    return names.filter((name) => found.has(name))
  }
  const isEmpty = (name: string) => (timesEmpty.get(name) ?? 0) >= TIMES_EMPTY

  async function deleteQueues(deps: WorkerDeps, one: Pick<PingGeneration, 'generation' | 'shards'>) {
    // A queue that has messages again remains; `admin doctor` reports it to the operator.
    const empty = (await inspect(deps, namesOf(one))).filter(isEmpty)
    if (empty.length === 0) return
    await deps.broker.remove(empty)
    deps.log.info({ queues: empty }, 'pings.queues-deleted')
  }

  return {
    name: 'outlived-queues',
    everySeconds: 10,
    async run({ deps, barriers }) {
      for (const one of await findDeletableGenerations(deps.reserveDb)) {
        const queues = queuesOf(one)
        if ((await barriers.answering(queues, BARRIER_TIMEOUT_MS)).size < queues.length) continue
        await inspect(deps, namesOf(one))
        if (namesOf(one).every(isEmpty)) await retireGeneration(deps.reserveDb, one.generation)
      }
      for (const one of await retiredGenerations(deps.reserveDb)) await deleteQueues(deps, one)
    },
  }
}

function namesOf(one: Pick<PingGeneration, 'generation' | 'shards'>): string[] {
  return queuesOf(one)
    .map(pingQueue)
    .flatMap((name) => [name, deadLetterQueueOf(name)])
}
