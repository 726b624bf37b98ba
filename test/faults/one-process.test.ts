import test from 'ava'
import { query } from '#shared/platform/database/sql.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { createDatabase, createVhost } from '../support/services.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

/** Seconds without a heartbeat after which the process counts as frozen. */
const FROZEN_SECONDS = 5

test.serial('the all-in-one process loses no ping in any fault and notifies once', async (t) => {
  await using database = await createDatabase()
  await using vhost = await createVhost()
  await using postgres = await startTcpProxy({ port: Number(new URL(database.url).port || 5432) })
  await using broker = await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) })
  await using sink = await openHttpSink()
  await using product = await openProduct({ env: { DATABASE_URL: database.url, AMQP_URL: vhost.url, ...LONG_LOG } })
  const [port, smtpPort, metricsPort] = [await freePort(), await freePort(), await freePort()]
  const settings = {
    PORT: String(port),
    SMTP_PORT: String(smtpPort),
    METRICS_PORT: String(metricsPort),
    DATABASE_URL: postgres.through(database.url),
    AMQP_URL: broker.through(vhost.url),
    DATABASE_TIMEOUT_MS: '2000',
    PUBLISH_TIMEOUT_MS: '2000',
  }
  const start = () => product.spawn('all', [], settings)
  const base = `http://127.0.0.1:${port}`
  const reasons = async () => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/readyz`).catch(() => null)
    return answer === null ? 'no answer' : answer.ok ? '' : await answer.text()
  }
  const ready = (when: string) => eventually(`the process to be ready ${when}`, async () => (await reasons()) === '')

  const project = await product.project()
  const deps = { db: product.db, secrets: createSecrets(product.config.secretKey) }
  const checks = await Promise.all(Array.from({ length: 10 }, () => addCheck(deps, project.id)))
  const failing = await addCheck(deps, project.id)
  await notify(product.db, [failing], [await addWebhook(deps, project.id, sink.url)])
  let process = start()
  await ready('at first')

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
  const accepts = (when: string) => {
    const before = ledger.count('accepted')
    return eventually(`pings to be accepted ${when}`, () => ledger.count('accepted') > before + 100)
  }
  await accepts('at first')

  process.signal('SIGKILL')
  await process.exited
  process = start()
  await accepts('after a kill')
  await ready('after a kill')

  process.signal('SIGSTOP')
  await eventually('its heartbeats to stop', async () => {
    const [row] = await query<{ isOld: boolean }>(
      product.db,
      `SELECT max(until_at) < now() - make_interval(secs => ?) AS "isOld" FROM listener_heartbeats`,
      [FROZEN_SECONDS],
    )
    return row?.isOld
  })
  process.signal('SIGCONT')
  await accepts('after a freeze')

  broker.cut({ refusing: true })
  const refused = ledger.answers.get('503') ?? 0
  await eventually('pings to be refused', () => (ledger.answers.get('503') ?? 0) > refused + 5)
  t.regex(await reasons(), /broker \(publish\)/)
  broker.restore()
  await accepts('after an outage of the broker')
  await ready('after an outage of the broker')

  postgres.cut({ refusing: true })
  await eventually('the outage to be noticed', async () => /"database: /.test(await reasons()))
  await accepts('while the database is away')
  postgres.restore()
  await ready('after an outage of the database')
  isOver = true
  await load

  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('refused'), 0, `answers: ${JSON.stringify([...ledger.answers])}`)
  t.deepEqual(await product.db('flips').where({ to_status: 'down' }).pluck('check_id'), [])
  t.is((await fetch(`${base}/ping/${failing.uuid}/fail`)).status, 200)
  await sink.waitFor(({ path }) => path === '/down')
  t.false(process.output().includes('process.failed'))
  t.is(await process.stop(), 0)
  t.is(sink.requests.length, 1)
})
