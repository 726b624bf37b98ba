import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { rabbitNode } from '../../stack/local-rabbit.ts'
import { runCommand } from '../../stack/run-command.ts'
import { eventually } from '../support/eventually.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from '../support/ledger.ts'
import { type OwnRabbit, type OwnRabbitCluster, startRabbitCluster } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { placedHere, scaleBlock, settingOf } from '../support/scale-page.ts'

/** How long a node may be away before its loss counts as one that nobody bridged. */
const BRIDGED_MS = 120_000

/** The node that leads the queue of the pings, as one of the others says. */
async function leader(cluster: OwnRabbitCluster): Promise<OwnRabbit> {
  const [first] = cluster.nodes
  const said = (await first?.ctl('list_queues', '--quiet', '--vhost', 'signalbox', 'name', 'leader')) ?? ''
  const name = said.split('\n').find((line) => line.startsWith(`${pingQueue(0)}\t`)) ?? ''
  const node = cluster.nodes.find(({ port }) => name.includes(`signalbox-${port}@`))
  if (!node) throw new Error(`no node leads ${pingQueue(0)}: ${said}`)
  return node
}

/** Three nodes by the lines that docs/scale.md gives to operators. */
async function startAsDocumented(): Promise<OwnRabbitCluster> {
  const settings = scaleBlock('net_ticktime').trim().split('\n')
  const cluster = await startRabbitCluster(3, settings, async (node, port) => {
    await node.shell(placedHere(scaleBlock('join_cluster'), { 'rabbit@one': rabbitNode(port) }))
  })
  await cluster.nodes[0]?.shell(scaleBlock('add_vhost'))
  return cluster
}

async function openClustered() {
  const resources = new AsyncDisposableStack()
  const cluster = resources.use(await startAsDocumented())
  const [one, two, three] = cluster.nodes.map(({ port }) => `@127.0.0.1:${port}/`)
  const here = { '@one:5672/': one ?? '', '@two:5672/': two ?? '', '@three:5672/': three ?? '' }
  const amqpUrl = placedHere(settingOf(scaleBlock('AMQP_URL=amqp:'), 'AMQP_URL'), here)
  const product = resources.use(await openProduct({ env: { AMQP_URL: amqpUrl, ...LONG_LOG } }))
  const project = await product.project()
  const doors = [await product.ingress(), await product.ingress()]
  const [first] = doors
  if (!first) throw new Error('no ingress')
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(first.deps, project.id)))
  await product.workers(['ping-evaluator', 'sweeper'])
  let isOver = false
  const loads = doors.map(({ base }) => {
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
    cluster,
    product,
    accepts,
    /** Ends the load. @returns what was sent through both */
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

// `make cluster-faults` kills and freezes every node, and takes two away at a time.
test('F02, F16: of three nodes one is killed, the leader of the pings, then the next leader is frozen: the others take over, and nothing is lost', async (t) => {
  await using story = await openClustered()
  const { cluster, product, accepts } = story
  await accepts('pings to be accepted')
  for (const { shell } of cluster.nodes) {
    t.is(await shell('cat "$RABBITMQ_ADVANCED_CONFIG_FILE"'), scaleBlock('poll_interval, 1000').trim())
  }
  const env = { ...process.env, ...product.env }
  const lines = scaleBlock('admin -- doctor').trim().split('\n')
  const [migrated, examined] = await Promise.all(lines.map((line) => runCommand(['sh', '-c', line], { env })))
  t.is(migrated?.code, 0, migrated?.stderr)
  t.regex(examined?.stdout ?? '', /^ok +broker: answers$/m)
  t.regex(examined?.stdout ?? '', /^ok +queues: are all there$/m)
  const killed = await leader(cluster)
  await killed.kill()
  await accepts('pings to be accepted without the node', BRIDGED_MS)
  await killed.start()
  await accepts('pings to be accepted by all')
  const node = await leader(cluster)
  node.freeze(true)
  try {
    await accepts('pings to be accepted while the node is frozen', BRIDGED_MS)
    t.deepEqual(await auditPings(product, await story.end()), [], 'with the node still frozen')
  } finally {
    node.freeze(false)
  }
  t.is((await product.db('flips').where({ to_status: 'down' })).length, 0)
})
