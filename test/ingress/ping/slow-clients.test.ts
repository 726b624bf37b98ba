import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import express from 'express'
import { createConnectionCap } from '#shared/platform/http/connection-cap.ts'
import { createApp } from '../../../ingress/app.ts'
import { startPingListener } from '../../../ingress/ping/listener.ts'
import { openHttpServer } from '../../../ingress/server.ts'
import { eventually } from '../../support/eventually.ts'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { aPingedProject } from './listeners.ts'

const DRIP_MS = 20
const IDLE_CONNECTIONS = 200

const resources = new AsyncDisposableStack()
let app: HttpProduct
/** the port of a listener of the same installation that waits at most three seconds for a client */
let port: number
test.before(async () => {
  app = resources.use(await openProduct({ listener: 'http' }))
  const listener = startPingListener(app.deps)
  resources.use(listener)
  const server = await openHttpServer(
    { port: 0, host: '127.0.0.1', deadlines: { headersMs: 2_000, requestMs: 3_000 } },
    { ping: listener.handle, plain: listener.handleFast, app: createApp(app.deps) },
  )
  resources.use(server)
  port = server.port
})
test.after.always(async () => {
  await resources.disposeAsync()
})

/** Connects, sends `beginning`, and then `piece` repeatedly until the server closes the connection. */
async function drip(beginning: string, piece: string) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  // Writing to a closed connection causes the expected error.
  socket.on('error', () => {})
  socket.write(beginning)
  const timer = setInterval(() => socket.write(piece), DRIP_MS)
  const closed = new Promise<string>((resolve) =>
    socket.once('close', () => {
      clearInterval(timer)
      resolve(answer)
    }),
  )
  return { socket, closed }
}

/** A ping on a connection that stays open. */
async function pingOn(agent: Agent, uuid: string): Promise<{ status: number | undefined; socket: Socket }> {
  return await new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path: `/ping/${uuid}`, agent }, (incoming) => {
      const { socket } = incoming
      incoming.on('error', reject)
      incoming.on('end', () => resolve({ status: incoming.statusCode, socket })).resume()
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Sends one ping after the other on one connection until `isOver` returns true. @returns their statuses */
async function pingUntil(isOver: () => boolean, uuid: string): Promise<(number | undefined)[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const statuses = []
  do {
    statuses.push((await pingOn(agent, uuid)).status)
    await sleep(DRIP_MS)
  } while (!isOver())
  agent.destroy()
  return statuses
}

for (const [what, beginning, piece] of [
  ['a connection that sends nothing', '', ''],
  ['headers that drip', 'GET /ping/{uuid} HTTP/1.1\r\nHost: a\r\nX-Slow: ', 'x'],
  ['header lines that never end', 'GET /ping/{uuid} HTTP/1.1\r\nHost: a\r\n', 'X: 1\r\n'],
  ['a ping body that drips', 'POST /ping/{uuid} HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n', 'x'],
  ['chunks that drip', 'POST /ping/{uuid} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  [
    'the body of an API request that drips',
    'POST /api/v3/checks/ HTTP/1.1\r\nHost: a\r\nX-Api-Key: {key}\r\nContent-Length: 9999\r\n\r\n',
    ' ',
  ],
] as const) {
  test.serial(`${what}: the server closes the connection, and no other client waits`, async (t) => {
    const slow = await aPingedProject(app)
    const quick = await aPingedProject(app)
    const clients = await Promise.all(
      Array.from({ length: 20 }, () =>
        drip(beginning.replace('{uuid}', slow.uuid).replace('{key}', slow.rwKey), piece),
      ),
    )
    const statuses = await pingUntil(() => clients.every(({ socket }) => socket.destroyed), quick.uuid)
    t.true(statuses.every((status) => status === 200))
    const answers = await Promise.all(clients.map(({ closed }) => closed))
    for (const answer of answers) t.regex(answer, /^(HTTP\/1\.1 408 |$)/)
    t.deepEqual(await slow.recorded(), [])
    t.notRegex(await app.deps.metrics.registry.metrics(), /signalbox_pings_refused_total\{status="5/)
    // The log shows the newest thousand.
    t.is((await quick.shown()).n_pings, statuses.length)
  })
}

test.serial('connections that are idle between pings stay open, and do not delay others', async (t) => {
  const { uuid, shown } = await aPingedProject(app)
  const other = await aPingedProject(app)
  const agents = Array.from({ length: IDLE_CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  // Ten at a time, because the server runs in this process and must read each request before its deadline.
  const first: Awaited<ReturnType<typeof pingOn>>[] = []
  while (first.length < agents.length) {
    const few = agents.slice(first.length, first.length + 10)
    first.push(...(await Promise.all(few.map((agent) => pingOn(agent, uuid)))))
  }
  // The idle connections stay open longer than a slow connection that begins later.
  const slow = await drip(`POST /ping/${other.uuid} HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n`, 'x')
  const statuses = await pingUntil(() => slow.socket.destroyed, other.uuid)
  await slow.closed
  t.true(statuses.every((status) => status === 200))
  const second = await Promise.all(agents.map((agent) => pingOn(agent, uuid)))
  t.true([...first, ...second].every(({ status }) => status === 200))
  t.true(second.every(({ socket }, i) => socket === first[i]?.socket))
  t.like(await shown(), { n_pings: 2 * IDLE_CONNECTIONS })
  for (const agent of agents) agent.destroy()
})

/** More than the kernel buffers on both sides. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x')

/** A server with a very large and a slow response; each fails if it makes no progress for `answerMs`. */
async function openLargeAnswers(own: AsyncDisposableStack, answerMs: number): Promise<number> {
  const listener = startPingListener(app.deps)
  own.use(listener)
  const answers = express()
  answers.get('/large', (_request, response) => void response.end(LARGE))
  answers.get('/late', (_request, response) => void setTimeout(() => response.end('late'), 2 * answerMs))
  const server = await openHttpServer(
    { port: 0, host: '127.0.0.1', deadlines: { answerMs } },
    { ping: listener.handle, plain: listener.handleFast, app: answers },
  )
  own.use(server)
  return server.port
}

test.serial('a client that does not read its response is disconnected, and no other client waits', async (t) => {
  await using own = new AsyncDisposableStack()
  const at = await openLargeAnswers(own, 3_000)
  const sockets = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const socket = connect(at, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.pause()
      socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
      return socket
    }),
  )
  const quick = await aPingedProject(app)
  let closed = 0
  for (const socket of sockets) {
    // A paused socket does not notice that it was closed, but a write does.
    const timer = setInterval(() => socket.write('\r\n'), DRIP_MS)
    socket.once('close', () => {
      clearInterval(timer)
      closed += 1
    })
  }
  const statuses = await pingUntil(() => closed === sockets.length, quick.uuid)
  t.true(statuses.every((status) => status === 200))
})

test.serial('a slow reader and a client that waits long receive complete responses', async (t) => {
  await using own = new AsyncDisposableStack()
  // A busy machine may stall for some seconds, which must not look like a stalled client.
  const answerMs = 15_000
  const at = await openLargeAnswers(own, answerMs)
  const late = fetch(`http://127.0.0.1:${at}/late`).then((answer) => answer.text())
  const { body } = await fetch(`http://127.0.0.1:${at}/large`)
  let length = 0
  let pauses = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    // Pauses that together are longer than `answerMs`.
    if (length > pauses * 8_000_000) {
      pauses += 1
      await sleep(answerMs / 3)
    }
  }
  t.is(length, LARGE.length)
  t.is(await late, 'late')
})

test.serial('limits the connections of an address and serves other addresses', async (t) => {
  await using own = new AsyncDisposableStack()
  const listener = startPingListener(app.deps)
  own.use(listener)
  const server = await openHttpServer(
    { port: 0, host: '127.0.0.1', connections: createConnectionCap(5, []) },
    { ping: listener.handle, plain: listener.handleFast, app: createApp(app.deps) },
  )
  own.use(server)
  const open = async (localAddress: string) => {
    const socket = connect({ port: server.port, host: '127.0.0.1', localAddress })
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.on('error', () => {})
    await once(socket, 'connect')
    return { socket, answer: () => answer }
  }
  // Another process of the test run may connect from 127.0.0.1 while it looks for its server.
  const idle = []
  for (let n = 0; n < 5; n++) idle.push(await open('127.0.0.4'))
  const refused = await open('127.0.0.4')
  await once(refused.socket, 'close')
  t.regex(refused.answer(), /^HTTP\/1\.1 429 /)
  const { uuid } = await aPingedProject(app)
  const other = await open('127.0.0.2')
  other.socket.write(`GET /ping/${uuid} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  await once(other.socket, 'close')
  t.regex(other.answer(), /^HTTP\/1\.1 200 /)
  for (const { socket } of idle) {
    socket.destroy()
    if (!socket.closed) await once(socket, 'close')
  }
  await eventually('the address to be served again', async () => {
    const again = await open('127.0.0.4')
    again.socket.write(`GET /ping/${uuid} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    await once(again.socket, 'close')
    return again.answer().startsWith('HTTP/1.1 200 ')
  })
})
