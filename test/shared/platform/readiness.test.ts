import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { ConfigError } from '#shared/platform/process/config.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { openPlatform } from '#shared/platform/process/open-platform.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { openProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { createDatabase } from '../../support/services.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'

/** An ingress with a database at `url`, and the readiness that it reports. */
async function startScenario(url: string) {
  const port = await freePort()
  const app = await openProduct({
    listener: 'http',
    workers: [],
    env: { DATABASE_URL: url, METRICS_PORT: String(port), DATABASE_TIMEOUT_MS: '1500' },
  })
  const status = async (path: string) => (await send(app.url, path)).status
  return {
    app,
    status,
    /** A busy machine may delay the loop for a moment, which is a separate reason. */
    isReadyForPings: () => eventually('it to be ready for pings', async () => (await status('/readyz/pings')) === 200),
    reasons: async () => {
      const { status: code, text } = await send(`http://127.0.0.1:${port}`, '/readyz')
      return {
        status: code,
        database: (JSON.parse(text).reasons as string[]).filter((it) => it.startsWith('database:')),
      }
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  }
}

test.serial('an ingress whose database goes away is ready only for pings, and reports why', async (t) => {
  await using database = await createDatabase()
  await using proxy = await startTcpProxy({ port: Number(new URL(database.url).port) })
  await using scenario = await startScenario(proxy.through(database.url))
  await eventually('the process to be ready', async () => (await scenario.status('/readyz')) === 200)
  await scenario.isReadyForPings()

  proxy.cut({ refusing: true })
  await eventually('the process to be unready', async () => (await scenario.status('/readyz')) === 503)
  await scenario.isReadyForPings()
  await eventually('the reason to be reported', async () =>
    isDeepStrictEqual(await scenario.reasons(), {
      status: 503,
      database: ['database: cannot be reached (ECONNRESET)'],
    }),
  )

  proxy.restore()
  await eventually('the process to be ready', async () => (await scenario.status('/readyz')) === 200)
  proxy.hold(true)
  await eventually('the silence to be noticed', async () => {
    return (await scenario.reasons()).database.join() === 'database: does not answer in time'
  })
  await scenario.isReadyForPings()
  t.pass()
})

test.serial('an ingress without its broker is not ready for pings', async (t) => {
  await using database = await createDatabase()
  await using scenario = await startScenario(database.url)
  await scenario.isReadyForPings()
  scenario.app.deps.pingReadiness.add(() => ['broker (publish): blocked, memory'])
  const answer = await send(scenario.app.url, '/readyz/pings')
  t.deepEqual([answer.status, answer.text], [503, '{"ready":false}'])
})

const refused: readonly [why: string, change: (url: URL) => void, expected: RegExp][] = [
  ['a login that is not there', (url) => (url.username = 'nobody-here'), /^database: refuses the login \(28000\)$/],
  [
    'a database that is not there',
    (url) => (url.pathname = '/none'),
    /^database: there is no such database \(3D000\)$/,
  ],
  ['a port without a server', (url) => (url.port = '1'), /^database: cannot be reached \(ECONNREFUSED\)$/],
  ['a name without an address', (url) => (url.hostname = 'db.invalid'), /^database: its name cannot be resolved \(E/],
  ['TLS with a server without it', (url) => (url.search = '?sslmode=require'), /^database: does not speak TLS$/],
]
for (const [why, change, expected] of refused) {
  test.serial(`the metrics port names the kind of a database's failure: ${why}`, async (t) => {
    await using database = await createDatabase()
    const url = new URL(database.url)
    change(url)
    await using scenario = await startScenario(url.href)
    const reasons = await eventually('the reason to be reported', async () => {
      const { status, database: found } = await scenario.reasons()
      return status === 503 && found.some((reason) => expected.test(reason)) && found
    })
    t.false(reasons.join().includes('127.0.0.1'))
  })
}

test.serial('a superuser login of the database is refused beyond the loopback', async (t) => {
  await using database = await createDatabase()
  await using product = await openProduct()
  const open = async (host: string, databaseUrl: string) => {
    await using resources = new AsyncDisposableStack()
    await openPlatform(resources, 'login', { ...product.config, host, databaseUrl }, createLog('silent', 'login'))
  }
  for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
    await t.throwsAsync(open(host, database.url), { instanceOf: ConfigError, message: /superuser or has BYPASSRLS/ })
    await t.notThrowsAsync(open(host, database.loginUrl))
  }
  await t.notThrowsAsync(open('127.0.0.1', database.url))
})
