import { fork } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { type MailProduct, startMail, withMailProject } from '../ingress/smtp/mail-product.ts'
import { addCheck, createTeam, join } from '../ingress/web/people.ts'
import { eventually } from '../support/eventually.ts'
import { type HttpProduct, openProduct } from '../support/product.ts'

const IDLE_CONNECTIONS = 10_000
/** Maximum bytes per connection in the server. */
const BYTES_PER_CONNECTION = 10_000
/** Maximum bytes per connection in server and client together. */
const BYTES_PER_WATCHER = 120_000
const WATCHERS = 200
const SLOW_READERS = 20
const MAIL_BYTES = 32 * 1024 * 1024
const SLACK_BYTES = 48 * 1024 * 1024
const MINUTE_MS = 60_000

let app: HttpProduct
let mail: MailProduct
test.before(async () => {
  app = await openProduct({ listener: 'http' })
  mail = await withMailProject(await openProduct({ listener: 'mail' }))
  await mail.workers(['ping-evaluator'])
})
test.after.always(async () => {
  await app?.[Symbol.asyncDispose]()
  await mail?.[Symbol.asyncDispose]()
})

setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')

/** Returns the bytes of heap and buffers after a garbage collection. */
function held(): number {
  if (typeof collectGarbage === 'function') collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function isBack(before: number): Promise<void> {
  await eventually('the memory to be free again', () => held() < before + SLACK_BYTES, MINUTE_MS)
}

/** Opens a connection from one of many loopback addresses. */
async function openFrom(index: number): Promise<Socket> {
  const localAddress = `127.0.${1 + Math.floor(index / 200)}.${1 + (index % 200)}`
  const socket = connect({ host: '127.0.0.1', port: app.port, localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.map(async (socket) => {
      if (socket.closed) return
      const closed = once(socket, 'close')
      socket.destroy()
      await closed
    }),
  )
}

test.serial('10,000 idle connections use little memory, delay no ping, and free it when closed', async (t) => {
  const team = await createTeam(app, 'Idle')
  const uuid = await addCheck(await join(app, team, 'owner', 'idle@example.com'), team)
  const before = held()
  const clients = fork(new URL('./idle-clients.ts', import.meta.url), [
    String(app.port),
    `/ping/${uuid}`,
    String(IDLE_CONNECTIONS),
  ])
  t.deepEqual(await Promise.race([once(clients, 'message'), once(clients, 'exit')]), ['held', undefined])
  t.true(held() - before < IDLE_CONNECTIONS * BYTES_PER_CONNECTION + SLACK_BYTES)
  t.is((await fetch(`${app.url}/ping/${uuid}`)).status, 200)
  clients.send('done')
  await once(clients, 'exit')
  await isBack(before)
})

test.serial('clients that do not read their pipelined responses use little memory', async (t) => {
  const answer = (await (await fetch(`${app.url}/openapi.json`)).arrayBuffer()).byteLength
  const before = held()
  const sockets = await Promise.all(Array.from({ length: SLOW_READERS }, (_, n) => openFrom(n)))
  for (const socket of sockets) {
    socket.pause()
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(50))
  }
  t.is((await fetch(`${app.url}/livez`)).status, 200)
  // Pipelined requests behind an unread response are not prepared.
  t.true(held() - before < SLOW_READERS * answer * 5 + SLACK_BYTES)
  await closeAll(sockets)
  await isBack(before)
})

test.serial('open live pages use little memory each and free it when closed', async (t) => {
  const team = await createTeam(app, 'Watched')
  const owner = await join(app, team, 'owner', 'watching@example.com')
  const path = `/projects/${team.project.uuid}/checks`
  await addCheck(owner, team)
  const { text } = await owner.get(path)
  const address = (/data-live="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&')
  const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const before = held()
  let watching = 0
  const requests = Array.from({ length: WATCHERS }, () =>
    get(`${app.url}${address}`, { headers: { cookie }, agent: false }, (answer) => {
      answer.on('error', () => {}).once('data', () => (watching += 1))
      answer.resume()
    }).on('error', () => {}),
  )
  await eventually('all live pages to be connected', () => watching === WATCHERS)
  t.true(held() - before < WATCHERS * BYTES_PER_WATCHER + SLACK_BYTES)
  for (const request of requests) request.destroy()
  await isBack(before)
})

test.serial('a mail of 32 MB is in memory once while it is received, and not afterwards', async (t) => {
  const check = await mail.addCheck()
  const before = held()
  const session = await startMail(mail.port, [check.address])
  const chunk = Buffer.from(`${'x'.repeat(1022)}\r\n`.repeat(1024))
  for (let sent = 0; sent + chunk.length < MAIL_BYTES; sent += chunk.length) {
    if (!session.socket.write(chunk)) await once(session.socket, 'drain')
  }
  await eventually('most of the mail to be received', () => held() - before > MAIL_BYTES / 2)
  t.true(held() - before < 2 * MAIL_BYTES + SLACK_BYTES)
  t.is(await session.command('.'), '250 OK')
  await session[Symbol.asyncDispose]()
  t.is((await mail.pings(check.id, 1)).length, 1)
  await isBack(before)
})
