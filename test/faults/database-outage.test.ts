import test from 'ava'
import { withClient } from '../../stack/database-admin.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

test.serial('no accepted ping is lost if the database is killed, ends sessions or becomes read-only', async (t) => {
  await using server = await startPostgres()
  await using product = await openProduct({
    env: {
      DATABASE_URL: server.signalbox,
      DATABASE_TIMEOUT_MS: '2000',
      DB_POOL: '5',
      ...LONG_LOG,
    },
  })
  // The test's own connections are cut as well.
  product.db.client.pool.on('poolDestroySuccess', () => {})
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(deps, project.id)))
  await product.workers(['ping-evaluator', 'sweeper', 'notifier'])
  const headers = { 'X-Api-Key': project.apiKey }
  const read = () => fetch(`${base}/api/v3/checks/`, { headers })
  const write = () => fetch(`${base}/api/v3/checks/`, { method: 'POST', headers, body: '{"name":"new"}' })
  const isReady = async () => (await fetch(`${base}/readyz`)).ok
  const ledger = new Ledger()
  let isOver = false
  const load = sendPings({
    base: () => base,
    checks: checks.map(({ uuid }) => uuid),
    connections: 4,
    ledger,
    ...STEADILY,
    more: () => !isOver && ledger.entries.size < 90_000,
  })
  const accepts = (what: string) => {
    const before = ledger.count('accepted')
    return eventually(what, () => ledger.count('accepted') > before + 100)
  }
  const recovers = async () => {
    await eventually('the process to be ready', isReady)
    await eventually('writes to work', async () => (await write()).status === 201)
  }
  await accepts('pings to be accepted')
  await eventually('writes to work at first', async () => (await write()).status === 201)

  await server.kill()
  await accepts('pings to be accepted without a database')
  for (const ask of [read, write]) {
    const answer = await ask()
    t.is(answer.status, 503)
    t.truthy(answer.headers.get('Retry-After'))
  }
  t.false(await isReady())
  await server.start()
  await recovers()

  await withClient(server.signalbox, async (client) => {
    for (let round = 0; round < 5; round++) {
      await accepts('pings while sessions are cut')
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'signalbox%' AND random() < 0.7`,
      )
    }
  })
  await recovers()

  await withClient(server.signalbox, async (client) => {
    await client.query('ALTER SYSTEM SET default_transaction_read_only = on')
    await client.query('SELECT pg_reload_conf()')
    await eventually('writes to be refused', async () => (await write()).status === 503)
    await eventually('reads to work', async () => (await read()).status === 200)
    await accepts('pings to be accepted while it is read-only')
    await client.query('SET default_transaction_read_only = off')
    await client.query('ALTER SYSTEM RESET default_transaction_read_only')
    await client.query('SELECT pg_reload_conf()')
  })
  await recovers()
  isOver = true
  await load
  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('accepted'), ledger.entries.size, `answers: ${JSON.stringify([...ledger.answers])}`)
})
