import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { openBrokerProbe } from '../support/broker-probe.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'
import { dropSharedRabbit, sharedRabbit } from './shared-rabbit.ts'

/** Maximum time for a server to restart on a busy machine. Invariant I10 allows a minute. */
const RECOVERY_MS = 60_000

test.after.always(dropSharedRabbit)

test.serial('processes survive a broker that is absent, stopped or killed, and count accepted pings', async (t) => {
  const broker = await sharedRabbit()
  await using vhost = await broker.vhost()
  await broker.stopApp()
  await using product = await openProduct({ env: { AMQP_URL: vhost.url, PUBLISH_TIMEOUT_MS: '2000', ...LONG_LOG } })
  const project = await product.project()
  const deps = { db: product.db, secrets: createSecrets(product.config.secretKey) }
  const checks = await Promise.all(Array.from({ length: 10 }, () => addCheck(deps, project.id)))
  const [port, workersPort] = [await freePort(), await freePort()]
  const ingress = product.spawn('ingress', [], { PORT: String(port) })
  const workers = product.spawn('workers', ['ping-evaluator', 'notifier'], { METRICS_PORT: String(workersPort) })
  const base = `http://127.0.0.1:${port}`
  const pingUrl = `${base}/ping/${checks[0]?.uuid}`

  // Without a broker, the processes stay alive, report why they are not ready, and accept nothing.
  for (const { output } of [ingress, workers]) {
    await eventually('the process to start without a broker', () => output().includes('process.ready'), RECOVERY_MS)
  }
  t.is((await fetch(`${base}/livez`)).status, 200)
  for (const url of [base, `http://127.0.0.1:${workersPort}`]) {
    const unready = await fetch(`${url}/readyz`)
    t.is(unready.status, 503)
    const text = await unready.text()
    // Reasons are for operators: the public port does not give them.
    if (url === base) t.is(text, '{"ready":false}')
    else t.regex(text, /broker \(publish\)/)
  }
  const refused = await fetch(pingUrl)
  t.is(refused.status, 503)
  t.truthy(refused.headers.get('Retry-After'))

  const isReady = async () => {
    const states = [base, `http://127.0.0.1:${workersPort}`].map(async (url) => (await fetch(`${url}/readyz`)).ok)
    return (await Promise.all(states)).every((isOk) => isOk)
  }
  await broker.startApp()
  await eventually('both processes to be ready', isReady, RECOVERY_MS)

  const ledger = new Ledger()
  let isOver = false
  const load = sendPings({
    base: () => base,
    checks: checks.map(({ uuid }) => uuid),
    connections: 8,
    ledger,
    ...STEADILY,
    more: () => !isOver && ledger.entries.size < 90_000,
  })
  const accepts = (what: string) => {
    const before = ledger.count('accepted')
    return eventually(what, () => ledger.count('accepted') > before + 100, RECOVERY_MS)
  }
  const refuses = () => {
    const before = ledger.answers.get('503') ?? 0
    return eventually('pings to be refused', () => (ledger.answers.get('503') ?? 0) > before + 5, RECOVERY_MS)
  }
  await accepts('pings to be accepted')
  await broker.stopApp()
  await refuses()
  await broker.startApp()
  await accepts('pings to be accepted after a stop')
  await broker.kill()
  await refuses()
  await broker.start()
  await accepts('pings to be accepted after a kill')
  isOver = true
  await load

  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('refused'), 0, `answers: ${JSON.stringify([...ledger.answers])}`)
  await eventually('both processes to be ready again', isReady, RECOVERY_MS)
  await using probe = await openBrokerProbe(vhost.url)
  const shards = Array.from({ length: product.config.pingShards }, (_, shard) => `pings.${shard}`)
  for (const queue of [...shards, 'alerts.wake.alerter', 'notification.due.notifier'])
    await eventually(`${queue} to have one consumer`, async () => (await probe.consumers(queue)) === 1)
  for (const { output } of [ingress, workers]) {
    t.false(output().includes('process.failed'))
    t.is(output().split('process.ready').length, 2, 'the process never restarted')
  }
  t.is(await workers.stop(), 0)
  t.is(await ingress.stop(), 0)
})
