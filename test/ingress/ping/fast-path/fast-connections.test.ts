import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { createApp } from '../../../../ingress/app.ts'
import type { Reply } from '../../../../ingress/ping/answers.ts'
import { startPingListener } from '../../../../ingress/ping/listener.ts'
import { openHttpServer } from '../../../../ingress/server.ts'
import { eventually } from '../../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../../support/product.ts'
import { aPingedProject } from '../listeners.ts'

// Each request goes to two servers of one installation: one serves plain pings itself, the other leaves all to Node.

const SEED = Number(process.env.FUZZ_SEED ?? 20261123)
const MUTATED = 400
/** A mutated request may be one that never ends. */
const DEADLINES = { headersMs: 1_000, requestMs: 2_000 }

const resources = new AsyncDisposableStack()
let app: HttpProduct
let uuid: string
let pingKey: string
let quick: Awaited<ReturnType<typeof openHttpServer>>
let usual: Awaited<ReturnType<typeof openHttpServer>>
let plain = 0
test.before(async () => {
  app = resources.use(await openProduct({ listener: 'http', env: { PING_RATE_LIMIT_PER_MINUTE: '0' } }))
  const project = await aPingedProject(app)
  uuid = project.uuid
  pingKey = project.pingKey
  const listener = startPingListener(app.deps)
  resources.use(listener)
  const own = { ping: listener.handle, app: createApp(app.deps) }
  const options = { port: 0, host: '127.0.0.1', deadlines: DEADLINES }
  usual = resources.use(await openHttpServer(options, own))
  quick = resources.use(
    await openHttpServer(options, {
      ...own,
      plain(request, reply) {
        plain += 1
        listener.handleFast(request, reply)
      },
    }),
  )
})
test.after.always(async () => {
  await resources.disposeAsync()
})

/** A connection, and what came back over it. */
async function openRaw(port: number) {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  let isClosed = false
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  socket.on('error', () => {})
  socket.on('close', () => (isClosed = true))
  await once(socket, 'connect')
  return { socket, answer: () => answer, isClosed: () => isClosed }
}

/** Sends pieces one after the other. Returns the server's answers without times, and if it hung up. */
async function outcome(port: number, pieces: readonly string[], answers = 1) {
  const raw = await openRaw(port)
  for (const piece of pieces) {
    await new Promise<void>((resolve) => raw.socket.write(piece, 'latin1', () => resolve()))
    // Else two pieces would arrive as one.
    if (pieces.length > 1) await new Promise(setImmediate)
  }
  const count = () => raw.answer().split('HTTP/1.1 ').length - 1
  await eventually('an answer', () => raw.isClosed() || count() >= answers)
  // One more request shows if the connection stays open.
  raw.socket.write(`GET /ping/${uuid} HTTP/1.1\r\nHost: last\r\nConnection: close\r\n\r\n`)
  await eventually('the end', raw.isClosed)
  return raw
    .answer()
    .replaceAll(/(Date|Expires): [^\r]+/g, '$1: T')
    .replaceAll(/(X-Request-Id: |"requestId":")[0-9a-f-]{36}/g, '$1R')
}

async function bothReply(pieces: readonly string[], answers?: number): Promise<[string, string]> {
  return await Promise.all([outcome(quick.port, pieces, answers), outcome(usual.port, pieces, answers)])
}

const ping = (lines: readonly string[] = [], first = `GET /ping/${uuid} HTTP/1.1`) =>
  `${[first, 'Host: a', ...lines].join('\r\n')}\r\n\r\n`

test.serial('the response to a plain ping equals the response of Node', async (t) => {
  const first = (method: string, path: string) => ping([], `${method} /ping/${path} HTTP/1.1`)
  const requests = [
    ping(),
    ping(['Connection: close']),
    ping(['Connection: keep-alive', 'User-Agent: curl/8', 'Content-Length: 0']),
    first('HEAD', uuid),
    first('POST', uuid),
    first('GET', `${uuid}/start`),
    first('GET', `${uuid}/300`),
    first('GET', `${uuid}?rid=bad`),
    first('GET', '00000000-0000-4000-8000-000000000000'),
    first('HEAD', '00000000-0000-4000-8000-000000000000'),
    first('GET', `${pingKey}/job`),
    first('GET', `${pingKey}/nowhere`),
    first('GET', `${pingKey}/UPPER`),
    first('GET', 'nothing'),
    first('GET', '%zz'),
  ]
  for (const request of requests) {
    const before = plain
    const [own, node] = await bothReply([request])
    t.is(own, node, request)
    t.regex(own, /^HTTP\/1\.1 /)
    t.true(plain > before, request)
  }
})

test.serial('every other request, first or later, is answered as by Node alone', async (t) => {
  const api = 'GET /api/v3/checks/ HTTP/1.1\r\nHost: a\r\n\r\n'
  const body = ping(['Content-Length: 5']).concat('hello')
  const chunked = ping(['Transfer-Encoding: chunked'], `POST /ping/${uuid} HTTP/1.1`).concat('5\r\nhello\r\n0\r\n\r\n')
  const exchanges: [pieces: string[], answers: number][] = [
    [[api], 1],
    [[ping(), api], 2],
    [[ping() + ping()], 2],
    [[ping() + ping() + api], 3],
    [[ping(), body, ping()], 3],
    [[ping(), chunked, ping()], 3],
    [[ping().slice(0, 30), ping().slice(30)], 1],
    [[ping(), ping().slice(0, 30), ping().slice(30)], 2],
    [[ping(), ping(), ping() + ping(), ping()], 5],
    [[ping(['Expect: 100-continue', 'Content-Length: 1']), 'x'], 2],
    [[ping(['X-Unknown: 1']), ping()], 2],
    [[ping([], `OPTIONS /ping/${uuid} HTTP/1.1`), ping()], 2],
    [[ping([], `PUT /ping/${uuid} HTTP/1.1`)], 1],
    [[ping([], `GET /ping/${uuid} HTTP/1.0`)], 1],
    [[ping(), 'rubbish\r\n\r\n'], 2],
    [[ping(['Host: b'])], 1],
    [[ping(), ping(['Content-Length: 1', 'Transfer-Encoding: chunked']).concat('0\r\n\r\n')], 2],
    [[ping(), `GET /ping/${uuid} HTTP/1.1\r\nHost: a\r\nAccept: ${'x'.repeat(9_000)}\r\n\r\n`], 2],
  ]
  for (const [pieces, answers] of exchanges) {
    const [own, node] = await bothReply(pieces, answers)
    t.is(own, node, JSON.stringify(pieces).slice(0, 300))
  }
})

test.serial(`${MUTATED} mutated requests are answered as by Node alone`, async (t) => {
  let state = SEED
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const pieces = [
    '\r\n',
    '\n',
    ' ',
    '\t',
    ':',
    '\0',
    '\xe9',
    'Host: b\r\n',
    'Content-Length: 3\r\n',
    'HTTP/1.0',
    '?',
    '%',
  ]
  for (let n = 0; n < MUTATED; n++) {
    let text = ping(['User-Agent: x', 'Accept: */*', ...(random(3) === 0 ? ['Connection: close'] : [])])
    for (let changes = random(3); changes >= 0; changes--) {
      const at = random(text.length)
      const piece = pieces[random(pieces.length)] ?? ''
      text = text.slice(0, at) + (random(2) === 0 ? piece : '') + text.slice(at + random(3))
    }
    // The server would wait for the rest of an incomplete request.
    const [own, node] = await bothReply([`${text}\r\n\r\n`])
    t.is(own, node, `seed ${SEED}, ${n}: ${JSON.stringify(text)}`)
  }
})

test.serial('pipelined pings are answered in order', async (t) => {
  const project = await aPingedProject(app)
  const raw = await openRaw(quick.port)
  const kinds = ['start', 'fail', 'log', '0']
  for (const kind of kinds) {
    raw.socket.write(ping([], `GET /ping/${project.uuid}/${kind} HTTP/1.1`))
    await new Promise(setImmediate)
  }
  await eventually('four answers', () => raw.answer().split('HTTP/1.1 200 OK').length === kinds.length + 1)
  raw.socket.destroy()
  const recorded = await project.recorded()
  t.deepEqual(
    recorded.map(({ type }) => type),
    ['start', 'fail', 'log', 'success'],
  )
})

test.serial('the sender of a plain ping is stored', async (t) => {
  const project = await aPingedProject(app)
  const raw = await openRaw(quick.port)
  const lines = ['User-Agent: backup/1.0', 'X-Forwarded-For: 203.0.113.7']
  raw.socket.write(ping([...lines, 'Connection: close'], `POST /ping/${project.uuid}?rid=${uuid} HTTP/1.1`))
  await eventually('the end', raw.isClosed)
  // Forwarding headers of this machine are trusted.
  t.like((await project.recorded())[0], { ua: 'backup/1.0', method: 'POST', rid: uuid, remoteAddr: '203.0.113.7' })
})

test.serial('closing ends idle connections and answers waiting requests with "Connection: close"', async (t) => {
  const own = startPingListener(app.deps)
  const held: (() => void)[] = []
  const server = await openHttpServer(
    { port: 0, host: '127.0.0.1' },
    {
      ping: own.handle,
      app: createApp(app.deps),
      plain: (request, reply) => void held.push(() => own.handleFast(request, reply)),
    },
  )
  const [silent, idle, waiting] = await Promise.all([1, 2, 3].map(() => openRaw(server.port)))
  idle?.socket.write(ping())
  await eventually('the first ping', () => held.length === 1)
  held[0]?.()
  await eventually('its answer', () => idle?.answer().startsWith('HTTP/1.1 200 OK'))
  waiting?.socket.write(ping())
  await eventually('the second ping', () => held.length === 2)
  const closed = server[Symbol.asyncDispose]()
  await eventually('the idle ones to be closed', () => silent?.isClosed() && idle?.isClosed())
  t.is(silent?.answer(), '')
  t.false(waiting?.isClosed())
  held[1]?.()
  await closed
  await eventually('the last one to be closed', waiting?.isClosed ?? (() => true))
  t.regex(waiting?.answer() ?? '', /^HTTP\/1\.1 200 OK[\s\S]*Connection: close\r\n\r\nOK$/)
  await own[Symbol.asyncDispose]()
})

test.serial('a client that does not read its responses is throttled, then disconnected', async (t) => {
  let taken = 0
  const fill = (reply: Reply) => {
    taken += 1
    reply.writeHead(200, ['Content-Length', '0', 'X-Fill', 'x'.repeat(60_000)])
    reply.end()
  }
  const server = await openHttpServer(
    { port: 0, host: '127.0.0.1', deadlines: { answerMs: 500 } },
    { ping: (_request, response) => fill(response), app: () => {}, plain: (_request, reply) => fill(reply) },
  )
  const raw = await openRaw(server.port)
  raw.socket.pause()
  const timer = setInterval(() => raw.socket.write(ping()), 1)
  await eventually('it to be cut', raw.isClosed)
  clearInterval(timer)
  // Only the answers that the buffers of both kernels hold unread.
  t.true(taken * 60_000 < 20_000_000, `${taken} answers`)
  await server[Symbol.asyncDispose]()
})

test.serial('data after a response with "Connection: close" is ignored', async (t) => {
  let taken = 0
  const server = await openHttpServer(
    { port: 0, host: '127.0.0.1', deadlines: { answerMs: 1_000 } },
    {
      ping: () => {},
      app: () => {},
      plain(_request, reply) {
        taken += 1
        // More than the kernels hold for who does not read: the connection stays for a while.
        reply.writeHead(200, ['X-Fill', 'x'.repeat(32_000_000)])
        reply.end()
      },
    },
  )
  const raw = await openRaw(server.port)
  raw.socket.pause()
  raw.socket.write(ping(['Connection: close']))
  await eventually('the answer to be on its way', () => taken === 1)
  const timer = setInterval(() => raw.socket.write(ping()), 20)
  await eventually('it to be cut', raw.isClosed)
  clearInterval(timer)
  t.is(taken, 1)
  await server[Symbol.asyncDispose]()
})
