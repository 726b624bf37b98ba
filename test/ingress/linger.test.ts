import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test from 'ava'
import { eventually } from '../support/eventually.ts'
import type { HttpProduct } from '../support/product.ts'
import { sharedProduct } from '../support/shared-product.ts'
import { aPingedProject } from './ping/listeners.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const BODY_BYTES = 300_000
/** The path does not exist, so that the server answers after the head alone. */
const EARLY = `POST /integrations/x/confirm/y HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY_BYTES}\r\nConnection: close\r\n\r\n`

interface Client {
  socket: Socket
  /** everything received so far */
  answer(): string
  /** errors of the connection */
  errors: string[]
  closed: Promise<unknown>
}

/** Opens a client that can continue to send after the server has finished its response. */
async function open(): Promise<Client> {
  const socket = connect({ port: app.port, host: '127.0.0.1', allowHalfOpen: true })
  await once(socket, 'connect')
  const errors: string[] = []
  let answer = ''
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', (error: NodeJS.ErrnoException) => errors.push(String(error.code)))
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')))
  return { socket, answer: () => answer, errors, closed }
}

const isAnswered = ({ answer }: Client) =>
  eventually('the answer', () => answer().startsWith('HTTP/1.1 404 ') && answer().includes('\r\n\r\n'))

test('the answer to a request that is refused early reaches who still sends its body, and the connection is not reset', async (t) => {
  const { uuid, recorded } = await aPingedProject(app)
  const client = await open()
  client.socket.write(EARLY)
  await isAnswered(client)
  client.socket.write('x'.repeat(BODY_BYTES))
  client.socket.end(`GET /ping/${uuid} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await client.closed
  t.deepEqual(client.errors, [])
  t.is(client.answer().match(/HTTP\/1\.1 /g)?.length, 1)
  t.deepEqual(await recorded(), [], 'what comes behind the last answer is no request')
})

test('a body that never ends is not waited for', async (t) => {
  const client = await open()
  client.socket.write(EARLY)
  await isAnswered(client)
  const timer = setInterval(() => client.socket.write('x'), 20)
  t.teardown(() => clearInterval(timer))
  await client.closed
  t.is(client.answer().match(/HTTP\/1\.1 /g)?.length, 1)
})
