import { connect } from 'node:net'
import { Writable } from 'node:stream'
import test from 'ava'
import { pino } from 'pino'
import { startIngress } from '../../../ingress/start-ingress.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

/** Writes bytes as they are and reads until the server closes. */
async function raw(text: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(app.port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
  })
}

const statusOf = (answer: string) => Number(answer.split(' ')[1])
const headerLines = (count: number) => Array.from({ length: count }, (_, i) => `X-Filler-${i}: 1\r\n`).join('')

// B18: headers beyond the limits; B17 and L15: what two readers may read differently.
for (const [what, status, text] of [
  ['two Host headers', 400, 'GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['two Host headers on a ping', 400, 'GET /ping/x HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'],
  ['a target in absolute form', 400, 'GET http://other.example/livez HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['more than a hundred headers', 431, `GET /livez HTTP/1.1\r\nHost: a\r\n${headerLines(100)}\r\n`],
  ['2,100 short headers', 431, `GET /livez HTTP/1.1\r\nHost: a\r\n${headerLines(2100)}\r\n`],
  ['17 kB of headers', 431, `GET /livez HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`],
  ['a URL of 20 kB', 431, `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  [
    'a length and chunks at once',
    400,
    'POST /api/v3/checks/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'two lengths',
    400,
    'POST /api/v3/checks/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd',
  ],
  [
    'an unknown transfer coding',
    400,
    'POST /api/v3/checks/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n',
  ],
  [
    'an unknown coding before chunked (L15)',
    400,
    'POST /ping/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'chunked twice (L15)',
    400,
    'POST /api/v3/checks/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['HTTP/2.0 in a request line (L15)', 505, 'GET /livez HTTP/2.0\r\nHost: a\r\n\r\n'],
  ['HTTP/0.9 in a request line (L15)', 505, 'GET /livez HTTP/0.9\r\nHost: a\r\n\r\n'],
  ['a space before a colon', 400, 'GET /livez HTTP/1.1\r\nHost: a\r\nX-A : 1\r\n\r\n'],
] as const) {
  test(`${what} is refused with ${status}, and the connection closes`, async (t) => {
    t.is(statusOf(await raw(text)), status)
  })
}

test('a second request hidden behind a refused one is never executed', async (t) => {
  const hidden = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'
  const answer = await raw(`GET http://other.example/ HTTP/1.1\r\nHost: a\r\n\r\n${hidden}`)
  t.is(answer.match(/HTTP\/1\.1 /g)?.length, 1)
})

for (const path of [
  '//api//v3/checks/',
  '/%61pi/v3/checks/',
  '/api/v3/checks/%2e%2e/',
  '/api/v3/checks/%00',
  '/api/v3%2Fchecks/',
  '/api/v3/checks/;x=1',
  '/API/v3/checks/',
  '/api/v3/Checks/',
  '/api/v3/checks/..',
  '/api/v3/checks/%',
]) {
  test(`${path} is not another spelling of a path that exists`, async (t) => {
    const { rwKey } = await addProject(app.deps)
    t.is((await send(app.url, path, { headers: { 'X-Api-Key': rwKey } })).status, 404)
  })
}

test('a method cannot be smuggled in by a header', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const headers = { 'X-Api-Key': rwKey, 'X-HTTP-Method-Override': 'DELETE' }
  t.is((await send(app.url, '/api/v3/checks/', { headers })).status, 200)
  t.is((await send(app.url, '/api/v3/checks/', { method: 'TRACE', headers })).status, 405)
})

test('a path that does not exist is answered as a problem that names only itself', async (t) => {
  const answer = await send(app.url, '/nowhere?secret=1')
  t.is(answer.headers['content-type'], 'application/problem+json')
  t.like(jsonOf(answer), {
    status: 404,
    code: 'NOT_FOUND',
    instance: '/nowhere',
    requestId: answer.headers['x-request-id'],
  })
})

test('compressed bodies and bodies above the limit are refused', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const sending = (headers: Record<string, string>, body: string) =>
    send(app.url, '/api/v3/checks/', { method: 'POST', headers: { 'X-Api-Key': rwKey, ...headers }, body })
  t.is((await sending({ 'Content-Encoding': 'gzip' }, 'x')).status, 415)
  const chunked = await sending({ 'Transfer-Encoding': 'chunked' }, `{"name":"x"}${' '.repeat(2_621_440)}`)
  t.is(chunked.status, 413)
  t.is(chunked.headers.connection, 'close')
})

test('an unexpected error returns only the request id, which is also in the log', async (t) => {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const log = pino({ level: 'info' }, sink)
  const fail = async () => {
    throw new Error('relation "secret_table" does not exist at /srv/db.ts')
  }
  const badges = { secret: Buffer.alloc(32), tagCounts: fail, ofCheck: fail }
  await using broken = await openProduct({ listener: 'http', workers: [], override: { log, badges } })
  const { project } = await addProject(broken.deps)
  await broken.deps.db.raw('INSERT INTO checks (project_id, badge_key) VALUES (?, ?)', [project.id, project.badgeKey])
  const answer = await send(broken.url, `/b/2/${project.badgeKey}.svg`, {
    headers: { 'User-Agent': 'a\tb %s \u00e9', 'X-Request-Id': 'abc-12345' },
  })
  t.is(answer.status, 500)
  t.deepEqual(jsonOf(answer), { error: 'internal error', request_id: 'abc-12345' })
  t.is(answer.headers['x-powered-by'], undefined)
  const logged = lines.map((line) => JSON.parse(line)).find((line) => line.requestId === 'abc-12345')
  t.is(logged?.msg, 'request.failed')
})

test('responses of APIs, documents and errors forbid guessing, loading and framing', async (t) => {
  for (const path of ['/api/v3/checks/', '/v1/usage', '/openapi.json', '/livez', '/nothing-here', '/api/push/x']) {
    const { headers } = await send(app.url, path)
    t.is(headers['x-content-type-options'], 'nosniff', path)
    t.is(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'", path)
  }
})

test('a request id that could spoil a log line is replaced', async (t) => {
  const { headers } = await send(app.url, '/livez', { headers: { 'X-Request-Id': 'a b\u00e9"' } })
  t.regex(String(headers['x-request-id']), /^[0-9a-f-]{36}$/)
})

test('the process reports liveness and readiness', async (t) => {
  // A separate one: nothing consumes the queues of this product, which after a while makes it not ready.
  await using fresh = await openProduct({ listener: 'http' })
  t.is((await send(fresh.url, '/livez')).text, 'OK')
  // A loop that was late for seconds is a reason not to be ready, for some time.
  const ready = await eventually('it to be ready', async () => {
    const answer = await send(fresh.url, '/readyz')
    return answer.status === 200 && answer
  })
  t.deepEqual([ready.status, jsonOf(ready)], [200, { ready: true }])
})

test('an ingress whose schema is not current is not ready, and reports why to its operator only (L2)', async (t) => {
  await using stale = await openProduct({ listener: 'http', workers: [] })
  await stale.deps.db.raw('DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)')
  await using resources = new AsyncDisposableStack()
  const { server, deps } = await startIngress(resources, { ...stale.deps.config, port: 0 }, stale.deps.log)
  await deps.broker.connected()
  const ready = await send(`http://127.0.0.1:${server.port}`, '/readyz')
  t.is(ready.status, 503)
  t.is(ready.text, '{"ready":false}')
  await eventually('the schema to be the only problem', async () =>
    /^database: \d+ migrations are pending: npm run -s migrate$/.test((await deps.readiness.problems()).join()),
  )
})
