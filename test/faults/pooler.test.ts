import test from 'ava'
import { openDatabase } from '#shared/platform/database/db.ts'
import { databaseFailure } from '#shared/platform/database/error-class.ts'
import { migrateAndSecure } from '#shared/platform/database/migrate.ts'
import type { Pooler } from '#shared/platform/database/server.ts'
import { query } from '#shared/platform/database/sql.ts'
import { addWebhook, notify } from '../support/alerts.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { placedHere, scaleBlock } from '../support/scale-page.ts'
import { createDatabase } from '../support/services.ts'
import { auditPings, Ledger, sendPings } from './ledger.ts'
import { pgbouncerBinary, startPgbouncer } from './own-pooler.ts'

const PINGS = 300
const TIMEOUT_MS = 10_000

test.serial('pings, reads and alerts work through pgbouncer in transaction mode, if installed', async (t) => {
  const binary = await pgbouncerBinary()
  if (binary === null) {
    t.pass('no pgbouncer here: make pooler')
    return
  }
  await using database = await createDatabase()
  // The databases of tests have separate names.
  const page = placedHere(scaleBlock('[pgbouncer]'), { 'signalbox =': '* =' })
  await using pooler = await startPgbouncer(binary, database.url, [], page)
  const addresses = {
    databaseUrl: pooler.through(database.loginUrl),
    databaseOwnerUrl: pooler.through(database.url),
    databasePooler: 'transaction' as const,
    databaseTimeoutMs: TIMEOUT_MS,
  }
  t.deepEqual(await migrateAndSecure(addresses), { applied: [] })
  t.deepEqual(await migrateAndSecure(addresses), { applied: [] }, 'no lock was left in a session of the pooler')

  await using sink = await openHttpSink()
  await using product = await openProduct({
    env: { DATABASE_URL: addresses.databaseUrl, DATABASE_POOLER: 'transaction' },
    listener: 'http',
    workers: ['ping-evaluator', 'notifier', 'sweeper', 'anchor'],
  })
  const [project, other] = [await product.project(), await product.project()]
  const checks = await Promise.all(Array.from({ length: 20 }, () => addCheck(product.deps, project.id)))
  await notify(product.db, checks, [await addWebhook(product.deps, project.id, sink.url)])
  const ledger = new Ledger()
  let left = PINGS
  const uuids = checks.map(({ uuid }) => uuid)
  await sendPings({ base: () => product.url, checks: uuids, connections: 8, ledger, more: () => left-- > 0 })
  t.is(ledger.count('accepted'), PINGS)
  t.deepEqual(await auditPings(product, ledger), [])

  const list = async (key: string) => {
    const response = await fetch(`${product.url}/api/v3/checks/`, { headers: { 'X-Api-Key': key } })
    return JSON.parse(await response.text()).checks.length
  }
  // Many at once: each transaction gets any free session, after one of another client.
  const keys = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? project.apiKey : other.apiKey))
  t.deepEqual(
    await Promise.all(keys.map(list)),
    keys.map((key) => (key === project.apiKey ? checks.length : 0)),
  )

  await fetch(`${product.url}/ping/${uuids[0]}/fail`)
  await sink.waitFor(({ path }) => path === '/down')
  t.deepEqual(await product.deps.readiness.problems(), [])
})

test.serial('a pgbouncer that does not match DATABASE_POOLER is refused, if installed', async (t) => {
  const binary = await pgbouncerBinary()
  if (binary === null) {
    t.pass('no pgbouncer here: make pooler')
    return
  }
  await using database = await createDatabase()
  await using strict = await startPgbouncer(binary, database.url, ['pool_mode = session'])
  await using lax = await startPgbouncer(binary, database.url, [
    'pool_mode = session',
    'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options',
  ])
  const ask = async (through: typeof strict, pooler: Pooler) => {
    const url = through.through(database.loginUrl)
    const db = openDatabase({ url, name: 'pooled', poolSize: 2, timeoutMs: TIMEOUT_MS, pooler })
    try {
      const [session] = await query<{ role: string; deadline: string }>(
        db,
        "SELECT current_user AS role, current_setting('statement_timeout') AS deadline",
      )
      return session
    } catch (error) {
      return databaseFailure(error)
    } finally {
      await db.destroy()
    }
  }
  t.is(await ask(strict, 'none'), 'a pooler refuses the settings of a session: DATABASE_POOLER must be set to its mode')
  t.is(
    await ask(lax, 'none'),
    'settings of the session have no effect, probably because of a pooler: DATABASE_POOLER must be set to its mode',
  )
  t.deepEqual(await ask(strict, 'session'), { role: 'signalbox_pipeline', deadline: '10s' })
})
