import { randomBytes } from 'node:crypto'
import test from 'ava'
import { durableQueues } from '#shared/contracts/topology.ts'
import { brokerManagement } from '#shared/platform/broker/management.ts'
import type { AdminContext } from '../../ingress/admin/command.ts'
import { commands } from '../../ingress/admin/registry.ts'
import { runAdmin } from '../../ingress/admin/run.ts'
import { eventually } from '../support/eventually.ts'
import { metricIn } from '../support/fault-metrics.ts'
import { freePort } from '../support/free-port.ts'
import { joinRabbit, type OwnRabbit, startRabbit } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'

interface Finding {
  what: string
  ok: boolean
  text: string
}

async function startManaged(cookie: string): Promise<OwnRabbit & { adminUrl: string }> {
  const port = await freePort()
  const settings = [
    'management.tcp.ip = 127.0.0.1',
    `management.tcp.port = ${port}`,
    'collect_statistics_interval = 1000',
  ]
  const node = await startRabbit(settings, cookie, ['rabbitmq_management'])
  return { ...node, adminUrl: `http://guest:guest@127.0.0.1:${port}` }
}

test.serial(
  'queues that were declared on one node get members where others join: doctor names them, repair mends them',
  async (t) => {
    const cookie = randomBytes(20).toString('hex')
    await using resources = new AsyncDisposableStack()
    const nodes = await Promise.all([startManaged(cookie), startManaged(cookie)])
    for (const node of nodes) resources.use(node)
    const [first, ...others] = nodes
    const env = {
      AMQP_URL: first.url,
      // A node that does not answer is passed over.
      AMQP_ADMIN_URL: `http://guest:guest@127.0.0.1:${await freePort()},${nodes.map(({ adminUrl }) => adminUrl).join(',')}`,
    }
    const product = resources.use(await openProduct({ env }))
    const { deps } = await product.ingress()
    const context = async (): Promise<AdminContext & AsyncDisposable> => ({
      ...{ config: product.config, db: product.db, secrets: deps.secrets, log: deps.log, actor: 'tester' },
      [Symbol.asyncDispose]: async () => {},
    })
    const admin = async (...args: string[]) => await runAdmin([...args, '--json'], commands, context)
    const findings = async () => {
      const { stdout } = await admin('doctor')
      const all: Finding[] = JSON.parse(stdout).findings
      return Object.fromEntries(all.map(({ what, ok, text }) => [what, `${ok ? 'ok' : 'WRONG'}: ${text}`]))
    }
    const queues = durableQueues(product.config.pingShards)
    await deps.broker.connected()
    const management = brokerManagement(env.AMQP_ADMIN_URL, env.AMQP_URL, deps.log)
    await eventually('all queues to be there', async () => {
      const state = await management.state(queues)
      return state.queues.length === queues.length && state.queues.every(({ leader }) => leader !== null)
    })
    const alone = await findings()
    t.regex(alone['queue members'] ?? '', /^ok: all there/, 'one node cannot hold more than one member')

    for (const node of others) await joinRabbit(node, first.port)
    const grown = await eventually('doctor to see both nodes', async () => {
      const found = await findings()
      return found['broker nodes'] === 'ok: 2 running' && found
    })
    t.regex(
      grown['queue members'] ?? '',
      new RegExp(`^WRONG: .+ \\(1\\).* of ${queues.length} queues .*admin broker repair`),
    )
    t.regex(grown['queue leaders'] ?? '', /^WRONG: signalbox-\d+@localhost leads/)

    const repaired = await admin('broker', 'repair')
    const { added, toRun }: { added: unknown[]; toRun: string[] } = JSON.parse(repaired.stdout)
    t.is(added.length + toRun.filter((line) => line.includes('add_member')).length, others.length * queues.length)
    t.is(repaired.status, toRun.length > 0 ? 1 : 0)
    // Each line of the command would start a virtual machine of Erlang; one shell beside the others is enough to try them.
    const [member = 'true'] = toRun
    await first.shell(member)
    for (const { port } of others) await first.shell(`rabbitmq-queues grow signalbox-${port}@localhost all`)
    if (toRun.length > 0) await first.shell(toRun.at(-1) ?? '')

    const mended = await eventually('doctor to find members and leaders well', async () => {
      const found = await findings()
      return found['queue members']?.startsWith('ok') && found['queue leaders']?.startsWith('ok') && found
    })
    t.is(mended['queue members'], `ok: all there, of ${queues.length} queues`)
    const worker = await product.workers(['sweeper'])
    await eventually('the metrics to show two members of each', async () => {
      const text = await worker.metrics.registry.metrics()
      return metricIn(text, 'signalbox_queue_members_online') === 2 * queues.length
    })
  },
)
