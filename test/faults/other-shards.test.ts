import test from 'ava'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { insertCheck } from '#shared/monitoring/checks/store.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { commands } from '../../ingress/admin/registry.ts'
import { runAdmin } from '../../ingress/admin/run.ts'
import { freePort } from '../../stack/free-port.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { auditPings, Ledger, sendPings } from '../support/ledger.ts'
import { listeningPort, openProduct, type Product } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'

interface Readiness {
  ready: boolean
  /** on the metrics port alone */
  reasons?: string[]
}

async function readiness(base: string): Promise<Readiness | null> {
  try {
    return JSON.parse(await (await fetch(`${base}/readyz`)).text())
  } catch {
    return null
  }
}

/** What a process said of itself, once `isIt` holds. */
async function saying(what: string, base: string, isIt: (said: Readiness) => boolean | undefined): Promise<Readiness> {
  return await eventually(
    what,
    async () => {
      const said = await readiness(base)
      return said !== null && isIt(said) ? said : null
    },
    60_000,
  )
}

const adminOf =
  (product: Product) =>
  (...args: string[]) =>
    runAdmin(args, commands, async () => ({
      config: product.config,
      db: product.db,
      secrets: createSecrets(product.config.secretKey),
      log: createLog('silent', 'test'),
      actor: 'tester',
      async [Symbol.asyncDispose]() {},
    }))

test('a process with another number of ping queues takes no part, and says both numbers', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '4' } })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(deps, project.id)))
  const other = await product.ingress({}, { PING_SHARDS: '8' })
  const port = await freePort()
  product.spawn('workers', ['ping-evaluator', 'sweeper'], { PING_SHARDS: '8', METRICS_PORT: String(port) })

  const reason = 'PING_SHARDS: is 8 here, and 4 in this installation (admin shards show)'
  await saying('workers to say that they differ', `http://127.0.0.1:${port}`, ({ reasons }) =>
    reasons?.includes(reason),
  )
  t.deepEqual(await other.deps.readiness.problems(), [reason])
  t.deepEqual(await readiness(other.base), { ready: false })
  t.deepEqual(await readiness(base), { ready: true })
  const ledger = new Ledger()
  const ping = async (to: string) => {
    let left = 16
    const targets = checks.map(({ uuid }) => uuid)
    await sendPings({ base: () => to, checks: targets, connections: 4, ledger, more: () => left-- > 0 })
  }
  await ping(other.base)
  t.deepEqual([...ledger.answers], [['503', 16]])
  await ping(base)
  t.is(ledger.count('accepted'), 16)
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  t.is(await probe.consumers('pings.0'), 0, 'evaluators that differ take nothing')

  await product.workers(['ping-evaluator'])
  t.deepEqual(await auditPings(product, ledger), [])
})

test('the number is changed by the operator, never over the heads of pings that wait', async (t) => {
  await using product = await openProduct({ env: { PING_SHARDS: '4' } })
  const admin = adminOf(product)
  const project = await product.project()
  const running = product.spawn('ingress')
  const base = `http://127.0.0.1:${await listeningPort(running)}`
  const check = await insertCheck(product.db, project.id, DEFAULT_SETTINGS)
  const ping = async (to: string) => (await fetch(`${to}/ping/${check.uuid}`)).status
  await eventually('the ingress to be ready', async () => (await ping(base)) === 200)

  const refused = await admin('shards', 'set', '--to', '2')
  t.is(refused.status, 1)
  t.regex(refused.stderr, /pings\.\d holds \d+ messages: let the evaluators finish/)
  t.is(await ping(base), 200)

  const evaluators = await product.workers(['ping-evaluator'])
  await using probe = await openBrokerProbe(product.config.amqpUrl)
  t.is(await running.stop(), 0)
  await eventually('the queues to be empty', async () => {
    const depths = await Promise.all([0, 1, 2, 3].map((shard) => probe.depth(`pings.${shard}`)))
    return depths.every((depth) => depth === 0)
  })
  const done = await admin('shards', 'set', '--to', '2', '--json')
  t.is(done.status, 0, done.stderr)
  t.is(await ping((await product.ingress()).base), 503, 'who has the old number takes no part')
  await eventually('evaluators of the old number to stop', async () => (await probe.consumers('pings.3')) === 0)
  await evaluators[Symbol.asyncDispose]()

  const fresh = await product.ingress({}, { PING_SHARDS: '2' })
  t.is(await ping(fresh.base), 200)
  // Nobody sends there any more; should it ever happen, it shows.
  await probe.put('pings.3', Buffer.from('left behind'))
  const port = await freePort()
  product.spawn('workers', ['ping-evaluator'], { PING_SHARDS: '2', METRICS_PORT: String(port) })
  const problem = 'broker: nobody takes from pings.3'
  const address = `http://127.0.0.1:${port}`
  await saying('the queue left behind to be a reason', address, ({ reasons }) => reasons?.includes(problem))
  const metrics = await (await fetch(`${address}/metrics`)).text()
  t.regex(metrics, /signalbox_queue_consumers\{queue="pings\.3"\} 0/)
  t.regex(metrics, /signalbox_queue_messages\{queue="pings\.3"\} 1/)
  const doctor = await admin('doctor')
  t.is(doctor.status, 1)
  t.regex(doctor.stdout, /WRONG\s+consumers: nobody takes from .*pings\.3/)
  t.regex(doctor.stdout, /WRONG\s+PING_SHARDS: is 4 here, and 2 in this installation/)
})
