import test from 'ava'
import type { Knex } from 'knex'
import { isConnectionFailure, openDatabase } from '#shared/platform/database/db.ts'
import { query } from '#shared/platform/database/sql.ts'
import { createTimelineFence, ReplacedServerError } from '#shared/platform/database/timeline-fence.ts'
import { withClient } from '../../stack/database-admin.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/own-servers.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { scaleBlock } from '../support/scale-page.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { auditPings, Ledger, LONG_LOG, STEADILY, sendPings } from './ledger.ts'

/** Longest time after the promotion in which a statement may still fail because its server is read-only. */
const READ_ONLY_MS = 15_000

const noop = () => {}

/** Starts a server with a synchronous standby, and a proxy that forwards to either. */
async function openPair() {
  const resources = new AsyncDisposableStack()
  const primary = resources.use(await startPostgres())
  const standby = resources.use(await primary.standby())
  await withClient(primary.url, async (client) => {
    for (const statement of scaleBlock('ALTER SYSTEM').trim().split('\n')) await client.query(statement)
    await eventually('the standby to be synchronous', async () => {
      const { rows } = await client.query(`SELECT FROM pg_stat_replication WHERE sync_state = 'quorum'`)
      return rows.length === 1
    })
  })
  const address = resources.use(await startTcpProxy(primary))
  const url = address.through(primary.signalbox)
  return { primary, standby, address, url, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

test.serial('a fail-over loses no accepted ping, and connections leave the read-only server in time', async (t) => {
  await using pair = await openPair()
  const { primary, standby, address, url } = pair
  await using product = await openProduct({
    env: {
      DATABASE_URL: url,
      DATABASE_TIMEOUT_MS: '2000',
      DB_POOL: '5',
      ...LONG_LOG,
    },
  })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(Array.from({ length: 8 }, () => addCheck(deps, project.id)))
  const worker = await product.workers(['ping-evaluator', 'sweeper'])
  const readOnlyAt: number[] = []
  for (const db of [deps.db, worker.db, worker.reserveDb]) {
    db.on('query-error', (error: { code?: string }) => {
      if (error.code === '25006') readOnlyAt.push(performance.now())
    })
  }
  const headers = { 'X-Api-Key': project.apiKey }
  const write = async () =>
    (await fetch(`${base}/api/v3/checks/`, { method: 'POST', headers, body: '{"name":"new"}' })).status
  const read = async () => (await fetch(`${base}/api/v3/checks/`, { headers })).status
  const ledger = new Ledger()
  let isOver = false
  const load = sendPings({
    base: () => base,
    checks: checks.map(({ uuid }) => uuid),
    connections: 2,
    ledger,
    ...STEADILY,
    more: () => !isOver && ledger.entries.size < 60_000,
  })
  const accepts = (what: string) => {
    const before = ledger.count('accepted')
    return eventually(what, () => ledger.count('accepted') > before + 100)
  }
  await accepts('pings to be accepted')
  t.is(await write(), 201)

  await primary.kill()
  address.redirect(standby.port)
  await eventually('reads to be served by the standby', async () => (await read()) === 200)
  await eventually('writes to be refused by the standby', async () => (await write()) === 503)
  await eventually('the standby to have received a write', () => readOnlyAt.length > 0)
  await accepts('pings to be accepted while there is no primary')

  await standby.promote()
  const promotedAt = performance.now()
  await eventually('writes to work', async () => (await write()) === 201)
  await eventually(
    'the time in which errors are allowed to pass',
    () => performance.now() > promotedAt + READ_ONLY_MS + 5_000,
    60_000,
  )
  t.is(await write(), 201)
  isOver = true
  await load
  t.deepEqual(await auditPings(product, ledger), [])
  t.is(ledger.count('accepted'), ledger.entries.size, `answers: ${JSON.stringify([...ledger.answers])}`)
  t.deepEqual(
    readOnlyAt.filter((at) => at > promotedAt + READ_ONLY_MS),
    [],
  )
})

test.serial('the first connection to a promoted server closes and refuses the old server', async (t) => {
  await using pair = await openPair()
  const { primary, standby, address, url } = pair
  await using resources = new AsyncDisposableStack()
  const fence = createTimelineFence()
  const open = (name: string) => {
    const db = openDatabase({ url, name, poolSize: 3, timeoutMs: 20_000, fence })
    resources.defer(() => db.destroy())
    return db
  }
  const [main, reserve] = [open('fenced:main'), open('fenced:reserve')]
  const serverOf = async (db: Knex) => {
    const [row] = await query<{ port: number }>(db, `SELECT current_setting('port')::int AS port`)
    return row?.port
  }
  const connectionsTo = async (server: string) =>
    await withClient(server, async (client) => {
      const { rows } = await client.query(`SELECT FROM pg_stat_activity WHERE application_name LIKE 'fenced:%'`)
      return rows.length
    })
  const used = await main.transaction()
  resources.defer(() => used.rollback().then(noop, noop)) // a pool closes after its open transactions
  t.is(await serverOf(used), primary.port)
  t.deepEqual(await Promise.all([serverOf(main), serverOf(main)]), [primary.port, primary.port])

  await standby.promote()
  address.redirect(standby.port)
  t.is(await serverOf(main), primary.port, 'an open connection stays on the old server')
  t.is(await serverOf(reserve), standby.port)
  await eventually('no connection to be left on the old server', async () => (await connectionsTo(primary.url)) === 0)
  t.true(
    isConnectionFailure(await t.throwsAsync(used.raw('SELECT 1'))),
    'a connection with an open transaction is closed too',
  )
  t.is(await serverOf(main), standby.port)

  address.redirect(primary.port)
  address.cut()
  const refusal = await eventually('the old server to be refused', async () => {
    const error: unknown = await serverOf(main).catch((error: unknown) => error)
    return error instanceof ReplacedServerError && error
  })
  t.true(isConnectionFailure(refusal))
  await eventually('the refused connection to be closed', async () => (await connectionsTo(primary.url)) === 0)
})
