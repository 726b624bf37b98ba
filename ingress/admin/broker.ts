import { durableQueues } from '#shared/contracts/topology.ts'
import { ConflictError } from '#shared/errors.ts'
import { evaluateCluster } from '#shared/platform/broker/cluster-health.ts'
import { brokerManagement } from '#shared/platform/broker/management.ts'
import { pingQueuesInUse } from '#shared/platform/database/ping-queues.ts'
import type { Command } from './command.ts'

const repair: Command = {
  noun: 'broker',
  verb: 'repair',
  summary: 'Give each durable queue a member on three nodes, and spread the leaders',
  help: [
    'Needs AMQP_ADMIN_URL with a user of the tag administrator. Brokers before 3.11.19 and 3.12.1 have no such API: then',
    'the lines to run on one of its nodes are printed, and the exit status is 1.',
  ],
  options: {},
  async run(_options, { config, db, log }) {
    if (config.amqpAdminUrl === undefined) throw new ConflictError('AMQP_ADMIN_URL is not set')
    const management = brokerManagement(config.amqpAdminUrl, config.amqpUrl, log)
    const queues = durableQueues(await pingQueuesInUse(db, config.pingShards))
    const { missing } = evaluateCluster(await management.state(queues))
    const added = []
    const byHand = []
    for (const { queue, nodes } of missing) {
      for (const node of nodes) {
        if (await management.addMember(queue, node)) added.push({ queue, node })
        else byHand.push({ queue, node })
      }
    }
    if (byHand.length === 0) await management.rebalance()
    // Queue names need no quotes in a shell.
    const { pathname } = new URL(config.amqpUrl.split(',')[0] ?? '')
    const vhost = decodeURIComponent(pathname.slice(1)) || '/'
    const toRun = byHand.map(({ queue, node }) => `rabbitmq-queues add_member --vhost '${vhost}' ${queue} ${node}`)
    if (toRun.length > 0) toRun.push('rabbitmq-queues rebalance quorum')
    const text = [
      ...added.map(({ queue, node }) => `${queue}: member on ${node}`),
      ...(toRun.length > 0
        ? ['This broker has no API for members. Run on one of its nodes:', ...toRun]
        : ['leaders spread']),
    ]
    return { json: { added, toRun }, text: text.join('\n'), failed: toRun.length > 0 }
  },
}

export const brokerCommands: readonly Command[] = [repair]
