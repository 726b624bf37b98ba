import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { openProduct } from '../../support/product.ts'

/** Maximum number of connections from one address. */
const LIMIT = 100

test('connections of one address to the metrics port are counted; another address is served', async (t) => {
  const port = await freePort()
  await using _app = await openProduct({ listener: 'http', workers: [], env: { METRICS_PORT: String(port) } })
  const open = async (localAddress: string): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  /** Returns the answer to a liveness request; empty if the connection was refused. */
  const ask = async (localAddress: string): Promise<string> => {
    const socket = await open(localAddress)
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')))
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    // A reset is how some are turned away, which `once` would take for a failure.
    await new Promise((resolve) => (socket.closed ? resolve(null) : socket.once('close', resolve)))
    return answer
  }
  const idle = await Promise.all(Array.from({ length: LIMIT }, () => open('127.0.0.1')))
  t.is(await ask('127.0.0.1'), '')
  t.regex(await ask('127.0.0.2'), /^HTTP\/1\.1 200 /)
  for (const socket of idle) socket.destroy()
  await eventually('the address to be let in again', async () => (await ask('127.0.0.1')).startsWith('HTTP/1.1 200 '))
})
