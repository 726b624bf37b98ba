import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { createDatabase, createVhost } from '../support/services.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { auditPings, Ledger, sendPings } from './ledger.ts'

/** Maximum time of a response; a later one counts as missing. */
const within = () => AbortSignal.timeout(25_000)

test.serial('unresponsive servers block no request beyond its deadline', async (t) => {
  await using database = await createDatabase()
  await using vhost = await createVhost()
  await using postgres = await startTcpProxy({ port: Number(new URL(database.url).port || 5432) })
  await using rabbit = await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) })
  await using product = await openProduct({
    env: {
      DATABASE_URL: postgres.through(database.url),
      AMQP_URL: rabbit.through(vhost.url),
      DATABASE_TIMEOUT_MS: '5000',
      PUBLISH_TIMEOUT_MS: '5000',
    },
  })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 4 }, () => addCheck(deps, project.id)))
  await product.workers(['ping-evaluator'])
  const headers = { 'X-Api-Key': project.apiKey }
  const read = () => fetch(`${base}/api/v3/checks/`, { headers, signal: within() })
  const write = () => fetch(`${base}/api/v3/checks/`, { method: 'POST', headers, body: '{}', signal: within() })
  const ledger = new Ledger()
  const ping = async (count: number) => {
    let left = count
    await sendPings({
      base: () => base,
      checks: checks.map(({ uuid }) => uuid),
      connections: 4,
      ledger,
      more: () => left-- > 0,
      timeoutMs: 25_000,
    })
  }
  await ping(40)
  t.is(ledger.count('accepted'), 40)
  t.is((await read()).status, 200)

  postgres.blackhole(true)
  const silent = await Promise.all([read(), write(), read(), write()])
  t.deepEqual(
    silent.map(({ status }) => status),
    [503, 503, 503, 503],
  )
  await ping(40)
  t.is(ledger.count('accepted'), 80, 'cached checks can still be pinged')
  postgres.cut()
  postgres.restore()
  await eventually('the database to work again', async () => (await read()).status === 200)

  rabbit.blackhole(true)
  await ping(8)
  t.is(ledger.answers.get('503'), 8)
  const late = await read()
  t.is(late.status, 200)
  t.truthy(late.headers.get('X-Signalbox-Lag'), 'a read reports that it may be stale')
  await eventually('missing heartbeats to be noticed', () => deps.broker.problems().length >= 2)
  rabbit.cut()
  rabbit.restore()
  await eventually(
    'the broker to work again',
    async () => {
      await ping(4)
      return ledger.count('accepted') > 84
    },
    60_000,
  )
  t.deepEqual(await auditPings(product, ledger), [])
  t.false([...ledger.answers.keys()].includes('TIMEOUT'))
})
