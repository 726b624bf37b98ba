import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import test from 'ava'
import { execute, query } from '#shared/platform/database/sql.ts'
import { microsOfSeconds, nowMicros } from '#shared/time.ts'
import { startIngress } from '../../../ingress/start-ingress.ts'
import { workers } from '../../../workers/registry.ts'
import { startWorkers } from '../../../workers/start-workers.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { aProject } from './project.ts'

// A published client of Healthchecks.
const { HealthChecksPingClient } = createRequire(import.meta.url)('healthchecks-io-client')

interface PingView {
  n: number
  type: string
  rid: string | null
  body_url: string | null
  duration?: number
}

const resources = new AsyncDisposableStack()
let app: HttpProduct
/** A listener with a clock that the tests set, in seconds before their start. */
let pastListener: string
let secondsAgo = 0
test.before(async () => {
  app = resources.use(await openProduct({ listener: 'http', env: { PING_LOG_LIMIT: '20' } }))
  const began = nowMicros()
  const { server, deps } = await startIngress(resources, { ...app.deps.config, port: 0 }, app.deps.log, {
    now: () => began - microsOfSeconds(secondsAgo),
  })
  await deps.broker.connected()
  pastListener = `http://127.0.0.1:${server.port}`
})
test.after.always(async () => {
  await resources.disposeAsync()
})

async function aCheck() {
  const project = await aProject(app)
  const uuid = await project.check([])
  const headers = { 'X-Api-Key': project.rwKey }
  const get = (path: string) => send(app.url, `/api/v3/checks/${uuid}${path}`, { headers })
  return {
    ...project,
    uuid,
    get,
    async pings() {
      return (jsonOf(await get('/pings/')) as { pings: PingView[] }).pings
    },
    async pingAgo(seconds: number, suffix: string) {
      secondsAgo = seconds
      const answer = await send(pastListener, `/ping/${uuid}${suffix}`)
      if (answer.text !== 'OK') throw new Error(`${answer.status} ${answer.text}`)
    },
  }
}

test.serial('the API shows separate durations of overlapping runs with ids', async (t) => {
  const { pingAgo, pings, get } = await aCheck()
  const [a, b] = [randomUUID(), randomUUID()]
  await pingAgo(1000, `/start?rid=${a}`)
  await pingAgo(900, `/start?rid=${b}`)
  await pingAgo(880, `/log?rid=${a}`)
  await pingAgo(800, `?rid=${a.toUpperCase()}`)
  await pingAgo(600, `/7?rid=${b}`)
  await pingAgo(500, '/start')
  await pingAgo(450, '')
  const listed = (await pings()).map(({ n, type, duration }) => [n, type, Math.round(duration ?? -1)])
  t.deepEqual(listed, [
    [7, 'success', 50],
    [6, 'start', -1],
    [5, 'fail', 300],
    [4, 'success', 200],
    [3, 'log', -1],
    [2, 'start', -1],
    [1, 'start', -1],
  ])
  const check = jsonOf(await get('')) as { last_duration: number; started: boolean }
  t.like(check, { started: false })
  t.is(Math.abs(check.last_duration - 50) <= 1, true)
})

test.serial('the log keeps only the newest pings and their bodies', async (t) => {
  const { uuid, pings, get } = await aCheck()
  for (let n = 1; n <= 47; n++) await send(app.url, `/ping/${uuid}`, { method: 'POST', body: `body ${n}` })
  t.deepEqual(
    (await pings()).map(({ n }) => n),
    Array.from({ length: 20 }, (_, i) => 47 - i),
  )
  for (const n of [1, 7, 27, 48]) t.is((await get(`/pings/${n}/body`)).status, 404, String(n))
  for (const n of [28, 40, 47]) t.is((await get(`/pings/${n}/body`)).text, `body ${n}`)
  const [row] = await query<{ count: number }>(
    app.deps.db,
    'SELECT count(*)::int AS count FROM pings p JOIN checks c ON c.id = p.check_id WHERE c.uuid = ?',
    [uuid],
  )
  t.is(row?.count, 20)
})

test.serial('a start that was overwritten in the log gives no duration', async (t) => {
  const { pingAgo, pings } = await aCheck()
  await pingAgo(500, '/start')
  for (let i = 0; i < 25; i++) await pingAgo(400 - i, '/log')
  await pingAgo(100, '')
  const [newest] = await pings()
  t.deepEqual([newest?.n, newest?.type, newest?.duration], [27, 'success', undefined])
})

test.serial('all calls of a published ping client work', async (t) => {
  const { uuid, pings, get } = await aCheck()
  const client = new HealthChecksPingClient({ uuid, baseUrl: `${app.url}/ping`, returnResponse: true, timeout: 60_000 })
  for (const act of ['start', 'success', 'fail']) {
    t.is(await client[act]('output of the job'), 'OK', act)
  }
  t.deepEqual(
    (await pings()).map(({ type }) => type),
    ['fail', 'success', 'start'],
  )
  t.like(jsonOf(await get('')), { status: 'down', n_pings: 3 })
})

test.serial('deletes only flips older than the retention', async (t) => {
  const { uuid, get } = await aCheck()
  const days = app.deps.config.flipRetentionDays
  const stamp = async (age: string, to: string) =>
    await execute(
      app.deps.db,
      `INSERT INTO flips (check_id, at, from_status, to_status, processed_at)
       SELECT id, now() - ?::interval, 'new', ?, now() FROM checks WHERE uuid = ?`,
      [age, to, uuid],
    )
  await stamp(`${days} days 1 minute`, 'up')
  await stamp(`${days + 300} days`, 'down')
  await stamp(`${days - 1} days 23 hours`, 'down')
  await stamp('1 minute', 'up')
  const flips = async () => (jsonOf(await get('/flips/')) as { up: number }[]).map(({ up }) => up)
  t.deepEqual(await flips(), [1, 0, 0, 1])
  const chosen = workers.filter(({ name }) => name === 'sweeper')
  await using sweeper = new AsyncDisposableStack()
  await startWorkers(sweeper, chosen, app.deps.config, app.deps.log)
  t.deepEqual(
    await eventually('the sweep', async () => {
      const left = await flips()
      return left.length < 4 ? left : null
    }),
    [1, 0],
  )
})
