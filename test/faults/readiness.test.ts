import { connect } from 'amqplib'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { createDatabase, createVhost } from '../support/services.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { metricIn, scrape } from './fault-metrics.ts'

/** Longer than all deadlines and a slow start. */
const MAX_WAIT_MS = 90_000

/** Returns the reasons why a process is not ready; empty if it is ready, undefined if it does not answer. */
async function reasons(port: number): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
    return answer.ok ? '' : await answer.text()
  } catch {
    return undefined
  }
}

const reports = (port: number, what: RegExp) =>
  eventually(`${what} to be reported`, async () => what.test((await reasons(port)) ?? ''), MAX_WAIT_MS)
const isReady = (port: number) =>
  eventually('the process to be ready', async () => (await reasons(port)) === '', MAX_WAIT_MS)

test.serial('workers stay ready while shards answer the sweep and pings are applied', async (t) => {
  await using database = await createDatabase()
  await using postgres = await startTcpProxy({ port: Number(new URL(database.url).port || 5432) })
  const [sweeperPort, evaluatorPort] = [await freePort(), await freePort()]
  const env = { DATABASE_URL: database.url, METRICS_PORT: String(sweeperPort), DATABASE_TIMEOUT_MS: '5000' }
  await using product = await openProduct({ env })
  await product.workers(['sweeper'])
  // The connections of the sweeper work all the time.
  await reports(sweeperPort, /sweep: shards 0, 1 have not replied to barriers for \d+ s/)

  const project = await product.project()
  const { base, deps } = await product.ingress({}, { METRICS_PORT: '0' })
  const check = await addCheck(deps, project.id)
  const behindProxy = { DATABASE_URL: postgres.through(database.url), METRICS_PORT: String(evaluatorPort) }
  product.spawn('workers', ['ping-evaluator'], behindProxy)
  await isReady(sweeperPort)
  await isReady(evaluatorPort)

  postgres.blackhole(true)
  t.is((await fetch(`${base}/ping/${check.uuid}`)).status, 200)
  await reports(evaluatorPort, /pings: the oldest unapplied ping has waited for \d+ s/)
  t.true(metricIn(await scrape(evaluatorPort), 'signalbox_unapplied_ping_seconds') > 15)
  postgres.cut()
  postgres.restore()
  await isReady(evaluatorPort)
  t.is(metricIn(await scrape(evaluatorPort), 'signalbox_unapplied_ping_seconds'), 0)
})

test.serial('a consumer that the broker does not open makes the process not ready until it reconnects', async (t) => {
  await using vhost = await createVhost()
  await using rabbit = await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) })
  await using product = await openProduct({ env: { AMQP_URL: rabbit.through(vhost.url) } })
  const { broker, metrics } = await product.workers(['ping-evaluator'])
  const consuming = async () =>
    (await metrics.consuming.get()).values.find(({ labels }) => labels.queue === 'pings.0')?.value
  await eventually('the consumer to be open', async () => (await consuming()) === 1)
  t.deepEqual(broker.problems(), [])

  const direct = await connect(vhost.url)
  await (await direct.createChannel()).deleteQueue('pings.0')
  await eventually('the consumer to be cancelled', async () => (await consuming()) === 0)
  // Its requests are no longer answered, and the connection stays open.
  rabbit.deafen(true)
  await direct.close()
  await eventually(
    'the deadline to end the connection before heartbeats do',
    () => broker.problems().some((problem) => /was not answered within 10000 ms/.test(problem)),
    MAX_WAIT_MS,
  )
  await eventually(
    'readiness to name the closed consumer',
    () => broker.problems().some((problem) => /^consumer of pings\.0: not open for \d+ s/.test(problem)),
    MAX_WAIT_MS,
  )
  rabbit.cut()
  rabbit.restore()
  await eventually('the consumer to be open again', async () => (await consuming()) === 1, MAX_WAIT_MS)
  await eventually('no readiness problem', () => broker.problems().length === 0, MAX_WAIT_MS)
})
