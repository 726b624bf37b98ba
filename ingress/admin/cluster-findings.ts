import { durableQueues } from '#shared/contracts/topology.ts'
import { type ClusterIlls, type ClusterState, evaluateCluster } from '#shared/platform/broker/cluster-health.ts'
import { brokerManagement } from '#shared/platform/broker/management.ts'
import { pingQueuesInUse } from '#shared/platform/database/ping-queues.ts'
import type { ArchivingState, ReplicationState } from '#shared/platform/database/server.ts'
import type { AdminContext, Finding } from './command.ts'

/** Maximum number of queues in a line; further ones are only counted. */
const NAMED = 5

/** Returns nothing without AMQP_ADMIN_URL. */
export async function clusterFindings({
  config,
  db,
  log,
}: Pick<AdminContext, 'config' | 'db' | 'log'>): Promise<Finding[]> {
  if (config.amqpAdminUrl === undefined) {
    const isCluster = config.amqpUrl.includes(',')
    return isCluster
      ? [
          {
            what: 'queue members',
            ok: true,
            isRisk: true,
            text: 'not looked at: AMQP_ADMIN_URL names the management plugin',
          },
        ]
      : []
  }
  try {
    const management = brokerManagement(config.amqpAdminUrl, config.amqpUrl, log)
    const state = await management.state(durableQueues(await pingQueuesInUse(db, config.pingShards)))
    return findingsOf(state, evaluateCluster(state))
  } catch (error) {
    const text = error instanceof Error ? error.message : 'cannot be read'
    return [{ what: 'broker cluster', ok: false, text }]
  }
}

function findingsOf({ nodes, queues }: ClusterState, ills: ClusterIlls): Finding[] {
  const down = nodes.filter(({ running }) => !running).map(({ name }) => name)
  const finding = (what: string, ill: string, well: string): Finding => ({ what, ok: ill === '', text: ill || well })
  return [
    finding(
      'broker nodes',
      down.length > 0 ? `${down.join(', ')} of ${nodes.length} is not running: start it` : '',
      `${nodes.length} running`,
    ),
    finding(
      'broker partitions',
      ills.partitioned.length > 0
        ? `${ills.partitioned.join(', ')} has lost sight of others: restart it (cluster_partition_handling = pause_minority)`
        : '',
      'none',
    ),
    finding(
      'broker alarms',
      ills.alarms.length > 0 ? `${ills.alarms.join(', ')}: no node takes messages until it is free again` : '',
      'none',
    ),
    finding(
      'queue members',
      ills.missing.length > 0
        ? `${few(ills.missing.map(({ queue, has }) => `${queue} (${has})`))} of ${queues.length} queues live on too few nodes: admin broker repair`
        : ills.offline.length > 0
          ? `${few(ills.offline.map(({ queue, nodes }) => `${queue} (${nodes.join(', ')})`))} have members that do not take part: start their nodes`
          : '',
      `all there, of ${queues.length} queues`,
    ),
    finding(
      'queue leaders',
      ills.leads
        ? `${ills.leads.node} leads ${ills.leads.queues} of ${ills.leads.of} queues: admin broker repair spreads them`
        : '',
      'spread',
    ),
  ]
}

function few(names: readonly string[]): string {
  const rest = names.length - NAMED
  return names.slice(0, NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

/** Checks that the database log reaches the archive, so that point-in-time recovery is possible. */
export function archivingFinding({ isOn, isFailing, ageSeconds }: ArchivingState): Finding {
  const what = 'archive'
  if (!isOn)
    return { what, ok: true, isRisk: true, text: 'off: between two backups nothing can be restored (archive_mode)' }
  const age = ageSeconds === null ? 'nothing was archived yet' : `last ${Math.round(ageSeconds)} s ago`
  return { what, ok: !isFailing, text: isFailing ? `the last attempt failed, ${age}: see archive_command` : age }
}

/** Checks if a 2xx answer survives the loss of the database server (docs/scale.md). */
export function replicationFinding(state: ReplicationState, wanted: number): Finding {
  const { standbys, isSynchronous } = state
  const what = 'standbys'
  if (wanted > 0 && (!isSynchronous || standbys < wanted)) {
    const why = isSynchronous ? '' : ', and no commit waits for one (synchronous_standby_names, synchronous_commit)'
    return { what, ok: false, text: `${standbys} connected, DATABASE_SYNC_STANDBYS is ${wanted}${why}` }
  }
  if (standbys === 0)
    return { what, ok: true, isRisk: true, text: 'none: a lost disk of the database loses what no backup holds' }
  return {
    what,
    ok: true,
    isRisk: !isSynchronous,
    text: isSynchronous
      ? `${standbys}, synchronous: no single server's loss loses anything that was answered`
      : `${standbys}, asynchronous: a fail-over loses what was answered and not yet replicated`,
  }
}
