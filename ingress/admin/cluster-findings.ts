import { durableQueues } from '#shared/contracts/topology.ts'
import { type ClusterIlls, type ClusterState, evaluateCluster } from '#shared/platform/broker/cluster-health.ts'
import { brokerManagement } from '#shared/platform/broker/management.ts'
import { pingQueuesInUse } from '#shared/platform/database/ping-queues.ts'
import type { ArchivingState, ReplicationState } from '#shared/platform/database/server.ts'
import type { AdminContext, Finding } from './command.ts'

/** Maximum number of queues in a line; further ones are only counted. */
const MAX_NAMED = 5

/** Without AMQP_ADMIN_URL, returns a warning if AMQP_URL names several nodes, otherwise nothing. */
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
            text: 'not checked: set AMQP_ADMIN_URL to the management plugin',
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

function findingsOf({ nodes, queues }: ClusterState, problems: ClusterIlls): Finding[] {
  const down = nodes.filter(({ running }) => !running).map(({ name }) => name)
  const finding = (what: string, problem: string, okText: string): Finding => ({
    what,
    ok: problem === '',
    text: problem || okText,
  })
  return [
    finding(
      'broker nodes',
      down.length > 0 ? `not running: ${down.join(', ')}, of ${nodes.length} nodes; start them` : '',
      `${nodes.length} running`,
    ),
    finding(
      'broker partitions',
      problems.partitioned.length > 0
        ? `${problems.partitioned.join(', ')} considers running nodes as down: restart it, and set cluster_partition_handling = pause_minority`
        : '',
      'none',
    ),
    finding(
      'broker alarms',
      problems.alarms.length > 0 ? `${problems.alarms.join(', ')}: no node takes messages until the alarm ends` : '',
      'none',
    ),
    finding(
      'queue members',
      problems.missing.length > 0
        ? `too few members: ${firstOf(problems.missing.map(({ queue, has }) => `${queue} (has ${has})`))}, of ${queues.length} queues; run admin broker repair`
        : problems.offline.length > 0
          ? `offline members: ${firstOf(problems.offline.map(({ queue, nodes }) => `${queue} (${nodes.join(', ')})`))}; start their nodes`
          : '',
      `complete for ${queues.length} queues`,
    ),
    finding(
      'queue leaders',
      problems.leads
        ? `${problems.leads.node} leads ${problems.leads.queues} of ${problems.leads.of} queues: admin broker repair spreads them`
        : '',
      'spread',
    ),
  ]
}

function firstOf(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED
  return names.slice(0, MAX_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

/** Checks that the write-ahead log of the database reaches the archive, so that point-in-time recovery is possible. */
export function archivingFinding({ isOn, isFailing, ageSeconds }: ArchivingState): Finding {
  const what = 'archive'
  if (!isOn)
    return {
      what,
      ok: true,
      isRisk: true,
      text: 'off: changes since the last backup cannot be restored (archive_mode)',
    }
  const age = ageSeconds === null ? 'nothing was archived yet' : `last success ${Math.round(ageSeconds)} s ago`
  return { what, ok: !isFailing, text: isFailing ? `the last attempt failed (${age}): see archive_command` : age }
}

/** Checks that enough standbys are connected, and that a commit waits for one if it must (docs/scale.md). */
export function replicationFinding(state: ReplicationState, wanted: number): Finding {
  const { standbys, isSynchronous } = state
  const what = 'standbys'
  if (wanted > 0 && (!isSynchronous || standbys < wanted)) {
    const why = isSynchronous ? '' : ', and no commit waits for one (synchronous_standby_names, synchronous_commit)'
    return { what, ok: false, text: `${standbys} connected, DATABASE_SYNC_STANDBYS is ${wanted}${why}` }
  }
  if (standbys === 0)
    return {
      what,
      ok: true,
      isRisk: true,
      text: 'none: if the disk of the database fails, data that is not in a backup is lost',
    }
  return {
    what,
    ok: true,
    isRisk: !isSynchronous,
    text: isSynchronous
      ? `${standbys}, synchronous: the loss of one server loses no confirmed write`
      : `${standbys}, asynchronous: a fail-over loses confirmed writes that are not replicated yet`,
  }
}
