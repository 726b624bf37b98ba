import test from 'ava'
import { pingQueue } from '#shared/contracts/ping-batch.ts'
import { eventually } from '../support/eventually.ts'
import { auditPings, Ledger, LONG_LOG, sendPings } from '../support/ledger.ts'
import { type OwnRabbit, type OwnRabbitCluster, startRabbitCluster } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

/** As docs/scale.md recommends: nodes notice one another's freezing within 20 s instead of 75. */
const SETTINGS = ['net_ticktime = 15', 'cluster_partition_handling = pause_minority']
/** How long a node may be away before its loss counts as one that nobody bridged. */
const BRIDGED_MS = 120_000

/** The node that leads the queue of the pings, as one of the others says. */
async function leader(cluster: OwnRabbitCluster): Promise<OwnRabbit> {
  const [first] = cluster.nodes
  const said = (await first?.ctl('list_queues', '--quiet', 'name', 'leader')) ?? ''
  const name = said.split('\n').find((line) => line.startsWith(`${pingQueue(0)}\t`)) ?? ''
  const node = cluster.nodes.find(({ port }) => name.includes(`signalbox-${port}@`))
  if (!node) throw new Error(`no node leads ${pingQueue(0)}: ${said}`)
  return node
}

async function openClustered() {
  const resources = new AsyncDisposableStack()
  const cluster = resources.use(await startRabbitCluster(3, SETTINGS))
  const product = resources.use(await openProduct({ env: { AMQP_URL: cluster.url, ...LONG_LOG } }))
  const project = await product.project()
  const doors = [await product.ingress(), await product.ingress()]
  const [first] = doors
  if (!first) throw new Error('no ingress')
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(first.deps, project.id)))
  await product.workers(['ping-evaluator', 'sweeper'])
  let isOver = false
  const loads = doors.map(({ base }) => {
    const ledger = new Ledger()
    const load = { base: () => base, checks: checks.map(({ uuid }) => uuid), connections: 2, ledger }
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
      for (const { ledger } of loads) for (const [rid, entry] of ledger.entries) all.entries.set(rid, entry)
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
