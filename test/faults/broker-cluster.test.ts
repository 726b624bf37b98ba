import { randomBytes } from 'node:crypto'
import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { durableQueues } from '#shared/contracts/topology.ts'
import { brokerManagement } from '#shared/platform/broker/management.ts'
import { rabbitNode } from '../../stack/local-rabbit.ts'
import { runCommand } from '../../stack/run-command.ts'
import { adminOf } from '../support/admin.ts'
import { deleteQueues } from '../support/empty-vhost.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { type OwnRabbit, once, startRabbit } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { placedHere, scaleBlock, settingOf } from '../support/scale-page.ts'
import { metricIn } from './fault-metrics.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

/** Longest unavailability of a node that does not count as an outage. */
const BRIDGED_MS = 120_000

type ManagedRabbit = OwnRabbit & { adminUrl: string }

const resources = new AsyncDisposableStack()
test.after.always(() => resources.disposeAsync())

/** Starts three nodes with the settings of docs/scale.md, which are not a cluster yet. */
const startNodes = once(async () => {
  const cookie = randomBytes(20).toString('hex')
  const documented = scaleBlock('net_ticktime').trim().split('\n')
  const start = async (): Promise<ManagedRabbit> => {
    const port = await freePort()
    const management = ['management.tcp.ip = 127.0.0.1', `management.tcp.port = ${port}`]
    const settings = [...documented, ...management, 'collect_statistics_interval = 1000']
    const node = resources.use(await startRabbit(settings, cookie, ['rabbitmq_management']))
    return { ...node, adminUrl: `http://guest:guest@127.0.0.1:${port}` }
  }
  const [first, second, third] = await Promise.all([start(), start(), start()])
  /** Forms a cluster with the commands of docs/scale.md. */
  const join = once(async () => {
    for (const node of [second, third])
      await node.shell(placedHere(scaleBlock('join_cluster'), { 'rabbit@one': rabbitNode(first.port) }))
  })
  return { nodes: [first, second, third] as const, join }
})

/** Returns the node that leads the queue of the pings. */
async function leader(nodes: readonly OwnRabbit[]): Promise<OwnRabbit> {
  const lines = (await nodes[0]?.ctl('list_queues', '--quiet', '--vhost', 'signalbox', 'name', 'leader')) ?? ''
  const name = lines.split('\n').find((line) => line.startsWith(`${pingQueue(0)}\t`)) ?? ''
  const node = nodes.find(({ port }) => name.includes(`signalbox-${port}@`))
  if (!node) throw new Error(`no node leads ${pingQueue(0)}: ${lines}`)
  return node
}

/** Forms the cluster of three nodes, with a virtual host as docs/scale.md creates it. */
async function startAsDocumented() {
  const { nodes, join } = await startNodes()
  await join()
  // Old queues and queue statistics would use most of the processor time.
  await deleteQueues(nodes[0].url)
  for (const node of nodes) await node.evaluate('application:set_env(rabbit, collect_statistics, none)')
  await nodes[0].shell(scaleBlock('add_vhost'))
  return nodes
}

async function openClustered() {
  const resources = new AsyncDisposableStack()
  const nodes = await startAsDocumented()
  const [one, two, three] = nodes.map(({ port }) => `@127.0.0.1:${port}/`)
  const here = { '@one:5672/': one ?? '', '@two:5672/': two ?? '', '@three:5672/': three ?? '' }
  const amqpUrl = placedHere(settingOf(scaleBlock('AMQP_URL=amqp:'), 'AMQP_URL'), here)
  const product = resources.use(await openProduct({ env: { AMQP_URL: amqpUrl, ...LONG_LOG } }))
  const project = await product.project()
  const listeners = [await product.ingress(), await product.ingress()]
  const [first] = listeners
  if (!first) throw new Error('no ingress')
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(first.deps, project.id)))
  await product.workers(['ping-evaluator', 'sweeper'])
  let isOver = false
  const loads = listeners.map(({ base }) => {
    const ledger = new Ledger()
    const load = { base: () => base, checks: checks.map(({ uuid }) => uuid), connections: 2, ledger, ...STEADILY }
    const done = sendPings({ ...load, more: () => !isOver && ledger.entries.size < 60_000, timeoutMs: 10_000 })
    return { ledger, done }
  })
  const accepts = (what: string, withinMs = 60_000) => {
    const before = loads.map(({ ledger }) => ledger.count('accepted'))
    return eventually(
      what,
      () => loads.every(({ ledger }, index) => ledger.count('accepted') > (before[index] ?? 0) + 50),
      withinMs,
    )
  }
  return {
    nodes,
    product,
    accepts,
    /** Ends the load. @returns the pings sent through both listeners */
    async end() {
      isOver = true
      await Promise.all(loads.map(({ done }) => done))
      const all = new Ledger()
      for (const { ledger } of loads) all.include(ledger)
      return all
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

interface Finding {
  what: string
  ok: boolean
  text: string
}

test.serial('doctor names queues without a member on a node that joined, and repair adds the members', async (t) => {
  const { nodes, join } = await startNodes()
  const [first, ...others] = nodes
  const env = {
    AMQP_URL: first.url,
    // A node that does not answer is skipped.
    AMQP_ADMIN_URL: `http://guest:guest@127.0.0.1:${await freePort()},${nodes.map(({ adminUrl }) => adminUrl).join(',')}`,
  }
  await using product = await openProduct({ env })
  const { deps } = await product.ingress()
  const admin = adminOf(product)
  const findings = async () => {
    const all: Finding[] = JSON.parse((await admin('doctor', '--json')).stdout).findings
    return Object.fromEntries(all.map(({ what, ok, text }) => [what, `${ok ? 'ok' : 'WRONG'}: ${text}`]))
  }
  const queues = durableQueues(product.config.pingShards)
  const management = brokerManagement(env.AMQP_ADMIN_URL, env.AMQP_URL, deps.log)
  await eventually('all queues to exist', async () => {
    const state = await management.state(queues)
    return state.queues.length === queues.length && state.queues.every((queue) => queue.leader !== null)
  })
  const alone = await findings()
  t.regex(alone['queue members'] ?? '', /^ok: complete for/, 'one node cannot have more than one member')

  await join()
  const grown = await eventually('doctor to see all nodes', async () => {
    const found = await findings()
    return found['broker nodes'] === 'ok: 3 running' && found
  })
  t.regex(
    grown['queue members'] ?? '',
    new RegExp(`^WRONG: .+ \\(has 1\\).* of ${queues.length} queues; .*admin broker repair`),
  )
  t.regex(grown['queue leaders'] ?? '', /^WRONG: signalbox-\d+@localhost leads/)

  const repaired = await admin('broker', 'repair', '--json')
  const { added, toRun }: { added: unknown[]; toRun: string[] } = JSON.parse(repaired.stdout)
  t.is(added.length + toRun.filter((line) => line.includes('add_member')).length, others.length * queues.length)
  t.is(repaired.status, toRun.length > 0 ? 1 : 0)
  // Each printed command starts an Erlang virtual machine, so only one is run.
  const [member = 'true'] = toRun
  await first.shell(member)
  for (const { port } of others) await first.shell(`rabbitmq-queues grow ${rabbitNode(port)} all`)
  if (toRun.length > 0) await first.shell(toRun.at(-1) ?? '')

  const mended = await eventually('doctor to find members and leaders well', async () => {
    const found = await findings()
    return found['queue members']?.startsWith('ok') && found['queue leaders']?.startsWith('ok') && found
  })
  t.is(mended['queue members'], `ok: complete for ${queues.length} queues`)
  const worker = await product.workers(['sweeper'])
  await eventually('the metrics to show three members of each queue', async () => {
    const text = await worker.metrics.registry.metrics()
    return metricIn(text, 'signalbox_queue_members_online') === 3 * queues.length
  })
})

// `make cluster-faults` kills and freezes every node, also two at a time.
test.serial('three nodes lose no ping when the leader is killed and the next leader frozen', async (t) => {
  await using scenario = await openClustered()
  const { nodes, product, accepts } = scenario
  await accepts('pings to be accepted')
  for (const { shell } of nodes) {
    t.is(await shell('cat "$RABBITMQ_ADVANCED_CONFIG_FILE"'), scaleBlock('poll_interval, 1000').trim())
  }
  const env = { ...process.env, ...product.env }
  const lines = scaleBlock('npm run -s migrate\nnpm run').trim().split('\n')
  const [migrated, examined] = await Promise.all(lines.map((line) => runCommand(['sh', '-c', line], { env })))
  t.is(migrated?.code, 0, migrated?.stderr)
  t.regex(examined?.stdout ?? '', /^ok +broker: answers$/m)
  t.regex(examined?.stdout ?? '', /^ok +queues: are all there$/m)
  const killed = await leader(nodes)
  await killed.kill()
  await accepts('pings to be accepted without the node', BRIDGED_MS)
  await killed.start()
  await accepts('pings to be accepted by all')
  const node = await leader(nodes)
  node.freeze(true)
  try {
    await accepts('pings to be accepted while the node is frozen', BRIDGED_MS)
    t.deepEqual(await auditPings(product, await scenario.end()), [], 'with the node still frozen')
  } finally {
    node.freeze(false)
  }
  t.is((await product.db('flips').where({ to_status: 'down' })).length, 0)
})
