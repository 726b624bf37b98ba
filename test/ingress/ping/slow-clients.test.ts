import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import test from 'ava'
import { createApp } from '../../../ingress/app.ts'
import { openPingDoor } from '../../../ingress/ping/door.ts'
import { openHttpServer } from '../../../ingress/server.ts'
import { openApp, type TestApp } from '../../support/app.ts'
import { aPingedProject } from './doors.ts'

const DRIP_MS = 20
const IDLE_CONNECTIONS = 200

const resources = new AsyncDisposableStack()
let app: TestApp
/** a door to the same installation that waits for nobody longer than half a second */
let port: number
test.before(async () => {
  app = resources.use(await openApp())
  const door = openPingDoor(app.deps)
  resources.use(door)
  const server = await openHttpServer(
    { port: 0, host: '127.0.0.1', deadlines: { headersMs: 250, requestMs: 500 } },
    { ping: door.handle, app: createApp(app.deps) },
  )
  resources.use(server)
  port = server.port
})
test.after.always(async () => {
  await resources.disposeAsync()
})

/** A client that sends a beginning, then a piece at a time for as long as the server lets it. */
async function drip(beginning: string, piece: string) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
  // Writing to a connection that the server has just closed is an error, and what is waited for.
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

/** Pings one after the other on one connection until something is true. @returns their statuses */
async function pingUntil(isOver: () => boolean, uuid: string): Promise<(number | undefined)[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const statuses = []
  do statuses.push((await pingOn(agent, uuid)).status)
  while (!isOver())
  agent.destroy()
  return statuses
}

for (const [what, beginning, piece] of [
  ['a connection that says nothing', '', ''],
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
  test.serial(`${what}: the server hangs up, and nobody else waited`, async (t) => {
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
    t.is((await quick.recorded()).length, statuses.length)
  })
}

test.serial('connections that are idle between pings stay open, and hinder nobody', async (t) => {
  const { uuid, shown } = await aPingedProject(app)
  const other = await aPingedProject(app)
  const agents = Array.from({ length: IDLE_CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const first = await Promise.all(agents.map((agent) => pingOn(agent, uuid)))
  // They outlast what cuts a slow one that came after them.
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
