import { queuesOf } from '#shared/contracts/ping-generations.ts'
import { durableQueues } from '#shared/contracts/topology.ts'
import { brokerManagement } from '#shared/platform/broker/management.ts'
import { readReplication } from '#shared/platform/database/replication.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../../define-worker.ts'
import type { Sweep } from '../sweep.ts'

/**
 * Looks at the servers below: standbys of the database, nodes and queue members of the broker. Only for the metrics: no
 * process works better for being taken out of service because a standby is gone. The first look, and each change, is
 * logged: it says what an answered request survives.
 */
export function servers(): Sweep {
  let said = ''
  return {
    name: 'servers',
    everySeconds: 30,
    async run({ deps }) {
      await inspectBroker(deps).catch((error: unknown) =>
        deps.log.warn(describeError(error), 'broker-cluster.not-looked-at'),
      )
      const state = await readReplication(deps.reserveDb)
      const { standbys, isSynchronous } = state
      const { metrics, config } = deps
      metrics.standbys.set(standbys)
      metrics.syncStandbys.set(isSynchronous ? standbys : 0)
      metrics.syncStandbysWanted.set(config.databaseSyncStandbys)
      const isEnough = config.databaseSyncStandbys <= (isSynchronous ? standbys : 0)
      if (said === JSON.stringify(state)) return
      said = JSON.stringify(state)
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
