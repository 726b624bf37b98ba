import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { aPingedProject, openAnotherListener } from './listeners.ts'

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

const manyHeaders = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: 1\r\n`).join('')

// {ping} is a check that must not be pinged, neither by the request nor by one that is smuggled behind it.
const HIDDEN = 'GET {ping} HTTP/1.1\r\nHost: a\r\n\r\n'
for (const [what, status, text] of [
  [
    'a length and chunks',
    400,
    `POST {ping} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['two lengths', 400, `POST {ping} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n${HIDDEN}`],
  ['an unknown coding', 400, `POST {ping} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n${HIDDEN}`],
  ['a folded header', 400, `GET {ping} HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n 2\r\n\r\n${HIDDEN}`],
  ['bare line feeds', 400, 'GET {ping} HTTP/1.1\nHost: a\n\n'],
  ['a space before a colon', 400, `GET {ping} HTTP/1.1\r\nHost: a\r\nX-A : 1\r\n\r\n${HIDDEN}`],
  ['two hosts', 400, `GET {ping} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${HIDDEN}`],
  ['a target in absolute form', 400, `GET http://b{ping} HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`],
  ['an invalid chunk size', 400, `POST {ping} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n${HIDDEN}`],
  [
    'a chunk extension of 20 kB',
    413,
    `POST {ping} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  ],
  ['more than a hundred headers', 431, `GET {ping} HTTP/1.1\r\nHost: a\r\n${manyHeaders(100)}\r\n${HIDDEN}`],
  ['17 kB of headers', 431, `GET {ping} HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`],
  ['a URL of 20 kB', 431, `GET {ping}?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
] as const) {
  test(`${what}: ${status}, the connection closes, and nothing is logged`, async (t) => {
    const { uuid, recorded } = await aPingedProject(app)
    const answer = await raw(text.replaceAll('{ping}', `/ping/${uuid}`))
    t.is(Number(answer.split(' ')[1]), status)
    t.is(answer.match(/HTTP\/1\.1 /g)?.length, 1)
    t.deepEqual(await recorded(), [])
  })
}

test('an endless body is truncated and answered, and the connection closes', async (t) => {
  const { uuid, recorded } = await aPingedProject(app)
  const socket = connect(app.port, '127.0.0.1')
  await once(socket, 'connect')
  // The server closes the connection while the client still writes, so a write fails.
  socket.on('error', () => {})
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString()))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const chunk = `10000\r\n${'y'.repeat(0x10000)}\r\n`
  socket.write(`POST /ping/${uuid} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`)
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', pour)
  pour()
  await closed
  t.regex(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.regex(answer, /\r\nConnection: close\r\n/i)
  const [ping] = await recorded()
  t.deepEqual([ping?.type, ping?.body?.toString()], ['success', 'y'.repeat(10_000)])
})

test('a ping with an incomplete body is not recorded', async (t) => {
  const { uuid, recorded } = await aPingedProject(app)
  const socket = connect(app.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`POST /ping/${uuid} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nonly the beginning`)
  socket.destroySoon()
  await once(socket, 'close')
  // The server processes the interrupted ping before a later one.
  t.is((await send(app.url, `/ping/${uuid}/log`)).status, 200)
  t.deepEqual(
    (await recorded()).map(({ type }) => type),
    ['log'],
  )
})

for (const path of [
  '//ping/{uuid}',
  '/PING/{uuid}',
  '/%70ing/{uuid}',
  '/ping//{uuid}',
  '/ping/../ping/{uuid}',
  '/ping/{uuid}%00',
  '/ping/{uuid};x=1',
]) {
  test(`${path} is not another spelling of a ping`, async (t) => {
    const { uuid, recorded } = await aPingedProject(app)
    const answer = await send(app.url, path.replace('{uuid}', uuid))
    t.is(answer.status, 404)
    t.deepEqual(await recorded(), [])
  })
}

test('ignores a method in a header, and thousands of unknown parameters', async (t) => {
  const { uuid, recorded } = await aPingedProject(app)
  t.is((await send(app.url, `/ping/${uuid}`, { headers: { 'X-HTTP-Method-Override': 'DELETE' } })).status, 200)
  t.is((await send(app.url, `/ping/${uuid}?${'a&'.repeat(5_000)}`)).status, 200)
  t.is((await send(app.url, `/ping/${uuid}?rid[]=x&rid[a]=y&create[]=1`)).status, 200)
  t.is((await recorded()).length, 3)
})

test('pings beyond the limit of a check are not recorded; other checks continue', async (t) => {
  await using resources = new AsyncDisposableStack()
  const listener = await openAnotherListener(resources, app, { pingRateLimitPerMinute: 3 })
  const { uuid, pingKey, recorded, rwKey } = await aPingedProject(app)
  const other = await aPingedProject(app)
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(listener, `/ping/${uuid}`)))
  const texts = answers.map(({ status, text }) => `${status} ${text}`)
  t.true(texts.includes('200 OK (rate limited)'))
  t.true(texts.every((text) => text === '200 OK' || text === '200 OK (rate limited)'))
  const bySlug = await eventually('a ping by slug to be refused', async () => {
    const answer = await send(listener, `/ping/${pingKey}/job`)
    return answer.status === 429 ? answer : null
  })
  t.truthy(Number(bySlug.headers['retry-after']))
  t.true((await recorded()).length < 20)
  t.is((await send(listener, `/ping/${other.uuid}`)).text, 'OK')
  // The management API has a separate limit.
  t.is((await send(listener, `/api/v3/checks/${uuid}`, { headers: { 'X-Api-Key': rwKey } })).status, 200)
})
