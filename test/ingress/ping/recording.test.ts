import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { aPingedProject, openAnotherListener } from './listeners.ts'

const resources = new AsyncDisposableStack()
let app: HttpProduct
/** the URL of a listener that trusts no proxy */
let publicListener: string
test.before(async () => {
  app = resources.use(await openProduct({ listener: 'http', env: { TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8' } }))
  publicListener = await openAnotherListener(resources, app, { trustedProxies: [] })
})
test.after.always(async () => {
  await resources.disposeAsync()
})

// From a trusted proxy; counted from the right, so that values added by a client are ignored.
for (const [forwardedFor, remoteAddr] of [
  ['1.2.3.4', '1.2.3.4'],
  [' 1.2.3.4 ', '1.2.3.4'],
  ['1.1.1.1:1234', '1.1.1.1'],
  ['2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:0102:0304', '::ffff:1.2.3.4'],
  ['6.6.6.6, 1.2.3.4', '1.2.3.4'],
  ['1.2.3.4, 10.0.0.7', '1.2.3.4'],
  ['6.6.6.6, 1.2.3.4, 10.0.0.7, 10.0.0.8', '1.2.3.4'],
  ['unknown', null],
  ['1.2.3', null],
  ['999.1.1.1', null],
  ["'; DROP TABLE pings; --", null],
  ['', null],
] as const) {
  test(`a proxy that forwards for ${JSON.stringify(forwardedFor)} is recorded as ${remoteAddr}`, async (t) => {
    const { uuid, recorded } = await aPingedProject(app)
    t.is((await send(app.url, `/ping/${uuid}`, { headers: { 'X-Forwarded-For': forwardedFor } })).status, 200)
    t.is((await recorded())[0]?.remoteAddr, remoteAddr)
  })
}

test('a client that is not a trusted proxy changes neither address nor scheme', async (t) => {
  const { uuid, recorded } = await aPingedProject(app)
  const headers = {
    'X-Forwarded-For': '1.2.3.4',
    'X-Real-IP': '1.2.3.4',
    Forwarded: 'for=1.2.3.4;proto=https',
    'X-Forwarded-Proto': 'https',
  }
  t.is((await send(publicListener, `/ping/${uuid}`, { headers })).status, 200)
  t.like((await recorded())[0], { remoteAddr: '127.0.0.1', scheme: 'http' })
})

test('recorded values are cut to their limits, and missing ones are empty', async (t) => {
  const { uuid, recorded } = await aPingedProject(app)
  const headers = { 'User-Agent': 'u'.repeat(300), 'X-Forwarded-Proto': 'https-and-more' }
  await send(app.url, `/ping/${uuid}/200?rid=${randomUUID().toUpperCase()}`, { method: 'POST', headers, body: 'x' })
  await send(app.url, `/ping/${uuid}`)
  const [first, second] = await recorded()
  t.like(first, { ua: 'u'.repeat(200), scheme: 'https-and-', exitStatus: 200, method: 'POST' })
  t.like(second, { ua: '', scheme: 'http', exitStatus: null, rid: null, remoteAddr: '127.0.0.1', body: null })
})

test('markup, quotes and control characters of a client come back as the text they are', async (t) => {
  const { uuid, rwKey } = await aPingedProject(app)
  const ua = '<script>alert(1)</script>\t"%s" $NAME {{x}} =cmd() \u00e9'
  await send(app.url, `/ping/${uuid}`, { headers: { 'User-Agent': ua } })
  const listed = await send(app.url, `/api/v3/checks/${uuid}/pings/`, { headers: { 'X-Api-Key': rwKey } })
  t.is(listed.headers['content-type'], 'application/json')
  t.is((jsonOf(listed) as { pings: { ua: string }[] }).pings[0]?.ua, ua)
})

const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
const gzipLike = Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3])
for (const [what, method, headers, body, kept] of [
  ['any bytes', 'POST', {}, bytes, bytes],
  ['a GET', 'GET', {}, 'of a GET', 'of a GET'],
  ['a form', 'POST', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'a=%20b', 'a=%20b'],
  [
    'several parts',
    'POST',
    { 'Content-Type': 'multipart/form-data; boundary=b' },
    '--b\r\n\r\nx\r\n--b--',
    '--b\r\n\r\nx\r\n--b--',
  ],
  ['compressed content', 'POST', { 'Content-Encoding': 'gzip' }, gzipLike, gzipLike],
  ['chunks', 'POST', { 'Transfer-Encoding': 'chunked' }, 'in chunks', 'in chunks'],
  ['10,000 bytes', 'POST', {}, 'x'.repeat(10_000), 'x'.repeat(10_000)],
  ['10,001 bytes', 'POST', {}, 'x'.repeat(10_001), 'x'.repeat(10_000)],
  ['a megabyte and more', 'POST', {}, 'x'.repeat(2_000_000), 'x'.repeat(10_000)],
] as const) {
  test(`the body of a ping is kept as sent, to its limit: ${what}`, async (t) => {
    const { uuid, recorded, rwKey } = await aPingedProject(app)
    const length = 'Transfer-Encoding' in headers ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    const answer = await send(app.url, `/ping/${uuid}`, { method, headers: { ...length, ...headers }, body })
    t.deepEqual([answer.status, answer.text], [200, 'OK'])
    t.deepEqual((await recorded())[0]?.body, Buffer.from(kept))
    const shown = await send(app.url, `/api/v3/checks/${uuid}/pings/1/body`, { headers: { 'X-Api-Key': rwKey } })
    t.deepEqual(shown.bytes, Buffer.from(kept))
  })
}

test('the limit of bodies is a setting that every answer states; without one nothing is kept and nothing stated', async (t) => {
  await using own = new AsyncDisposableStack()
  const short = await openAnotherListener(own, app, { pingBodyLimit: 5 })
  const none = await openAnotherListener(own, app, { pingBodyLimit: 0 })
  const { uuid, recorded } = await aPingedProject(app)
  const limits = []
  for (const listener of [short, none]) {
    const answer = await send(listener, `/ping/${uuid}`, { method: 'POST', body: '0123456789' })
    limits.push(answer.headers['ping-body-limit'])
  }
  t.deepEqual(limits, ['5', undefined])
  t.deepEqual(
    (await recorded()).map(({ body }) => body?.toString() ?? null),
    ['01234', null],
  )
})

for (const [what, settings, sending, type] of [
  ['keywords decide, not the URL', {}, { path: '/fail', body: 'all DONE' }, 'success'],
  ['a failure keyword goes before a success keyword', {}, { path: '', body: 'DONE but BROKEN' }, 'fail'],
  ['the body of a log decides its type', {}, { path: '/log', body: 'BROKEN' }, 'fail'],
  ['nothing found is ignored', {}, { path: '/fail', body: 'done' }, 'ign'],
  ['nothing found is a failure where that is the default', { filterDefaultFail: true }, { path: '', body: '' }, 'fail'],
  ['a keyword beyond the limit is not seen', {}, { path: '', body: `${'x'.repeat(9_998)}DONE` }, 'ign'],
  [
    'bytes that are no text are searched all the same',
    {},
    { path: '', body: Buffer.from('\xff\xfeDONE\x80', 'latin1') },
    'success',
  ],
  [
    'a forbidden method is ignored before keywords are looked for',
    { methods: 'POST' },
    { path: '/fail', body: 'DONE', method: 'GET' },
    'ign',
  ],
] as const) {
  test(`filtered bodies: ${what}`, async (t) => {
    const { project, recorded, shown } = await aPingedProject(app)
    const method = 'method' in sending ? sending.method : 'POST'
    const filter = { filterHttpBody: true, successKw: 'DONE', failureKw: 'BROKEN' }
    const check = await addCheck(app.deps, project.id, { name: 'filtered', ...filter, ...settings })
    const body = Buffer.from(sending.body)
    const headers = { 'Content-Length': String(body.length) }
    const answer = await send(app.url, `/ping/${check.uuid}${sending.path}`, { method, headers, body })
    t.deepEqual([answer.status, answer.text], [200, 'OK'])
    t.deepEqual(
      (await recorded(check.id)).map((ping) => ping.type),
      [type],
    )
    t.like(await shown(check.uuid), { n_pings: 1, status: { success: 'up', fail: 'down', ign: 'new' }[type] })
  })
}

test('a check that takes POST only ignores every other ping, and answers OK', async (t) => {
  const { project, recorded, shown } = await aPingedProject(app)
  const check = await addCheck(app.deps, project.id, { methods: 'POST' })
  for (const [method, suffix] of [
    ['GET', ''],
    ['HEAD', '/start'],
    ['GET', '/fail'],
    ['GET', '/7'],
    ['POST', ''],
  ] as const) {
    t.is((await send(app.url, `/ping/${check.uuid}${suffix}`, { method })).status, 200)
  }
  t.deepEqual(
    (await recorded(check.id)).map((ping) => [ping.type, ping.exitStatus]),
    [
      ['ign', null],
      ['ign', null],
      ['ign', null],
      ['ign', 7],
      ['success', null],
    ],
  )
  t.like(await shown(check.uuid), { status: 'up', started: false, n_pings: 5 })
})
