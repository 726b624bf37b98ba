import test from 'ava'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { execute } from '#shared/platform/database/sql.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct({ env: { PING_LOG_LIMIT: '10' } })
})

interface PingView {
  type: string
  n: number
  date: string
  rid: string | null
  body_url: string | null
  duration?: number
}

async function aCheck() {
  const owner = await addProject(app.deps)
  const headers = { 'X-Api-Key': owner.rwKey }
  const check = await addCheck(app.deps, owner.project.id)
  const base = `/api/v3/checks/${check.uuid}`
  return {
    ...owner,
    check,
    base,
    get: (path: string) => send(app.url, base + path, { headers }),
    ping: (action = '', sending = {}) => send(app.url, `/ping/${check.uuid}${action}`, sending),
    pings: async () => {
      const answer = await send(app.url, `${base}/pings/`, { headers })
      return (jsonOf(answer) as { pings: PingView[] }).pings
    },
  }
}

/** A ping of a certain time, as the evaluator would have stored it. */
/** All pings of one scenario get times from one moment, independent of how long it takes to store them. */
const STARTED_SECONDS = Math.floor(Date.now() / 1000)

async function store(checkId: number, n: number, type: string, secondsAgo: number, rid: string | null = null) {
  await execute(
    app.deps.db,
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, ua, rid)
     VALUES (?, ?, ?, ?, to_timestamp(?) - make_interval(secs => ?::float8), 'http', 'GET', '', ?)`,
    [checkId, n, n, type, STARTED_SECONDS, secondsAgo, rid],
  )
  await execute(app.deps.db, 'UPDATE checks SET n_pings = greatest(n_pings, ?) WHERE id = ?', [n, checkId])
}

const RID = '0b9a2c5e-0a55-4a43-9d4c-6f5f0c1e7a11'

test('pings are listed newest first with their recorded values', async (t) => {
  const { ping, pings, base } = await aCheck()
  await ping('', { headers: { 'User-Agent': 'curl/8' } })
  await ping(`/3?rid=${RID.toUpperCase()}`, { method: 'POST', body: 'failed badly' })
  const [second, first] = await pings()
  t.like(second, { type: 'fail', n: 2, scheme: 'http', method: 'POST', rid: RID, remote_addr: '127.0.0.1' })
  t.is(second?.body_url, `${app.url}${base}/pings/2/body`)
  t.like(first, { type: 'success', n: 1, method: 'GET', ua: 'curl/8', rid: null, body_url: null })
  t.regex(String(first?.date), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
  t.false('duration' in (first ?? {}))
})

test('the date of a ping has its true microseconds', async (t) => {
  const { check, ping, pings } = await aCheck()
  for (let n = 0; n < 6; n++) await ping()
  const dates = (await pings()).map(({ date }) => date)
  t.true(
    dates.some((date) => !/000\+00:00$/.test(date)),
    'the time is measured finer than a millisecond',
  )
  await execute(app.deps.db, "UPDATE pings SET at = '2026-03-04 05:06:07.890123+00' WHERE check_id = ? AND n = 6", [
    check.id,
  ])
  t.is((await pings())[0]?.date, '2026-03-04T05:06:07.890123+00:00', 'and shown as it is stored')
})

test('a body comes back byte for byte, as plain text that no browser takes for a page', async (t) => {
  const { ping, get } = await aCheck()
  const bytes = Buffer.from([0, 255, 10, 60, 115, 99, 114, 105, 112, 116, 62, 0xed, 0xa0, 0x80])
  await ping('', { method: 'POST', body: bytes })
  const answer = await get('/pings/1/body')
  t.deepEqual(answer.bytes, bytes)
  t.is(answer.headers['content-type'], 'text/plain')
  t.is(answer.headers['x-content-type-options'], 'nosniff')
  t.is((await get('/pings/01/body')).status, 200)
  t.is((await get('/pings/99999999999999999999/body')).status, 404)
})

test('only retained pings are listed, and older bodies are deleted', async (t) => {
  const { ping, pings, get } = await aCheck()
  for (let n = 1; n <= 12; n++) await ping('', { method: 'POST', body: String(n) })
  t.deepEqual(
    (await pings()).map(({ n }) => n),
    [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
  )
  t.is((await get('/pings/2/body')).status, 404)
  t.is((await get('/pings/3/body')).text, '3')
})

for (const [what, rows, expected] of [
  [
    'a start and its success',
    [
      ['start', 100],
      ['success', 40],
    ],
    { 2: 60 },
  ],
  [
    'a second start replaces the first',
    [
      ['start', 100],
      ['start', 50],
      ['success', 40],
    ],
    { 3: 10 },
  ],
  [
    'a fail is measured too, what follows is not',
    [
      ['start', 100],
      ['fail', 60],
      ['success', 10],
    ],
    { 2: 40 },
  ],
  [
    'logs are passed over',
    [
      ['start', 100],
      ['log', 60],
      ['success', 40],
    ],
    { 3: 60 },
  ],
  [
    '72 hours are too long',
    [
      ['start', 72 * 3600 + 50],
      ['success', 50],
    ],
    {},
  ],
] as const) {
  test(`durations: ${what}`, async (t) => {
    const { check, pings } = await aCheck()
    for (const [index, [type, secondsAgo]] of rows.entries()) await store(check.id, index + 1, type, secondsAgo)
    const durations = (await pings()).filter((it) => 'duration' in it).map((it) => [it.n, it.duration])
    t.deepEqual(Object.fromEntries(durations), expected)
  })
}

test('durations: runs are distinguished, and a start beyond the list is found', async (t) => {
  const { check, pings } = await aCheck()
  await store(check.id, 1, 'start', 500, RID)
  await store(check.id, 2, 'start', 400)
  for (let n = 3; n <= 11; n++) await store(check.id, n, 'log', 300)
  await store(check.id, 12, 'success', 100, RID)
  await store(check.id, 13, 'success', 50)
  const durations = (await pings()).filter((it) => 'duration' in it).map((it) => [it.n, it.duration])
  t.deepEqual(durations, [
    [13, 350],
    [12, 400],
  ])
})

test('flips are a bare array, newest first, for uuids and unique_keys and both kinds of keys', async (t) => {
  const { ping, get, check, roKey } = await aCheck()
  await ping()
  await ping('/fail')
  await ping()
  const flips = jsonOf(await get('/flips/')) as { timestamp: string; up: number }[]
  t.deepEqual(
    flips.map(({ up }) => up),
    [1, 0, 1],
  )
  for (const { timestamp } of flips) t.regex(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  const path = `/api/v3/checks/${uniqueKey(check.uuid)}/flips/`
  t.deepEqual(jsonOf(await send(app.url, path, { headers: { 'X-Api-Key': roKey } })), flips)
})

test('filters of flips', async (t) => {
  const { get, check } = await aCheck()
  for (const [at, to] of [
    [1_700_000_000, 'up'],
    [1_700_000_100, 'down'],
  ] as const) {
    await execute(
      app.deps.db,
      `INSERT INTO flips (check_id, at, from_status, to_status) VALUES (?, to_timestamp(?), 'new', ?)`,
      [check.id, at, to],
    )
  }
  for (const [query, expected] of [
    ['', [0, 1]],
    ['?start=1700000000', [0, 1]],
    ['?start=1700000001', [0]],
    ['?end=1700000100', [1]],
    ['?end=0', []],
    ['?start=1700000100&end=1700000000', []],
    ['?seconds=0', [0, 1]],
    ['?seconds=', [0, 1]],
    ['?seconds=60', []],
    ['?seconds=60.0', []],
    ['?start=x&start=1700000001', [0]],
    ['?start=%201700000001%20', [0]],
    ['?other=1', [0, 1]],
  ] as const) {
    const answer = await get(`/flips/${query}`)
    t.is(answer.status, 200, query)
    t.deepEqual(
      (jsonOf(answer) as { up: number }[]).map(({ up }) => up),
      [...expected],
      query,
    )
  }
  for (const query of [
    'start=',
    'end=',
    'start=NaN',
    'seconds=-1',
    'seconds=1e18',
    'seconds=31536001',
    'end=1.5',
    'start=10000000001',
  ]) {
    const answer = await get(`/flips/?${query}`)
    t.deepEqual([answer.status, answer.text], [400, ''], query)
  }
})
