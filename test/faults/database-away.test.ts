import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { openProduct } from '../support/product.ts'
import { addCheck } from '../support/projects.ts'
import { createDatabase } from '../support/services.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { auditPings, Ledger, sendPings } from './ledger.ts'

const PERIOD = { timeoutSeconds: 10, graceSeconds: 5 }
/** Longer than the period of the checks and than the TTL of a cached check. */
const AWAY_SECONDS = 62

test.serial('a database outage of a minute loses no ping of a cached check', async (t) => {
  await using database = await createDatabase()
  await using postgres = await startTcpProxy({ port: Number(new URL(database.url).port || 5432) })
  await using product = await openProduct({
    env: {
      DATABASE_URL: postgres.through(database.url),
      DATABASE_TIMEOUT_MS: '2000',
      CHECK_CACHE_SECONDS: '1',
    },
  })
  const project = await product.project()
  const { base, deps } = await product.ingress()
  const checks = await Promise.all(['a', 'b', 'c', 'd'].map((slug) => addCheck(deps, project.id, { slug, ...PERIOD })))
  const forgotten = await addCheck(deps, project.id, PERIOD)
  await product.workers(['ping-evaluator', 'sweeper', 'notifier'])
  const ledger = new Ledger()
  const pingAll = async (into = ledger) => {
    const targets = checks.flatMap(({ uuid, slug }) => [uuid, `${project.pingKey}/${slug}`])
    let left = targets.length
    await sendPings({
      base: () => base,
      checks: targets,
      connections: 8,
      ledger: into,
      more: () => left-- > 0,
      timeoutMs: 10_000,
    })
  }
  const all = new Ledger()
  await eventually('all checks to be cached', async () => {
    const first = new Ledger()
    await pingAll(first)
    all.include(first)
    return first.count('accepted') === first.entries.size
  })
  await eventually(
    'the check whose deletion is not announced to be cached',
    async () => (await fetch(`${base}/ping/${forgotten.uuid}`)).status === 200,
  )

  postgres.cut({ refusing: true })
  const since = performance.now()
  const away = () => (performance.now() - since) / 1000
  for (; away() < AWAY_SECONDS; await pause(500)) {
    // The second half is worse: connections are accepted, but no data ever arrives on them.
    if (away() > AWAY_SECONDS / 2) {
      postgres.restore()
      postgres.blackhole(true)
    }
    await pingAll()
  }
  t.deepEqual([...ledger.answers.keys()], ['200'])
  postgres.cut()
  postgres.restore()

  // The next sweeps find only the silent check.
  const down = async () => await product.db('flips').where({ to_status: 'down' }).pluck('check_id')
  await eventually('the check without pings to go down', async () => {
    await pingAll()
    return (await down()).length > 0
  })
  t.deepEqual((await down()).map(Number), [forgotten.id])
  all.include(ledger)
  t.deepEqual(await auditPings(product, all), [])

  const pingForgotten = async () => (await fetch(`${base}/ping/${forgotten.uuid}`)).status
  t.is(await pingForgotten(), 200)
  await product.db('checks').where({ id: forgotten.id }).delete()
  await eventually('the deleted check to leave the cache', async () => (await pingForgotten()) === 404)
})
