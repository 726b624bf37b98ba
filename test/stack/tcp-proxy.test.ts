import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import test from 'ava'
import { startTcpProxy } from '../support/tcp-proxy.ts'

async function echoServer(): Promise<{ port: number; received: () => string } & AsyncDisposable> {
  let received = ''
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      received += chunk
      socket.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    received: () => received,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined) // closing the proxy resets what is still open
  await once(socket, 'connect')
  return socket
}

test('bytes pass in both directions, also when delayed', async (t) => {
  await using server = await echoServer()
  await using proxy = await startTcpProxy(server)
  proxy.delay(20)
  const socket = await open(proxy.port)
  socket.write('hello')
  const [answer] = await once(socket, 'data')
  t.is(String(answer), 'hello')
})

test('a cut resets open connections and turns new ones away until it is restored', async (t) => {
  await using server = await echoServer()
  await using proxy = await startTcpProxy(server)
  const socket = await open(proxy.port)
  socket.write('hello')
  await once(socket, 'data')
  proxy.cut({ refusing: true })
  const [error] = await once(socket, 'error')
  t.is(error.code, 'ECONNRESET')
  const turnedAway = connect(proxy.port, '127.0.0.1')
  t.is((await once(turnedAway, 'error'))[0].code, 'ECONNRESET')
  proxy.restore()
  const again = await open(proxy.port)
  again.write('back')
  t.is(String((await once(again, 'data'))[0]), 'back')
})

test('a black hole swallows bytes and leaves the connection open', async (t) => {
  await using server = await echoServer()
  await using proxy = await startTcpProxy(server)
  const socket = await open(proxy.port)
  socket.write('before')
  await once(socket, 'data')
  proxy.blackhole(true)
  socket.write('lost')
  const other = await open(proxy.port)
  other.write('lost too')
  t.is(proxy.connections() > 0, true)
  proxy.restore()
  other.write('after')
  await once(other, 'data')
  t.false(socket.destroyed)
  socket.destroy()
})

test('a connection is reset after the given number of bytes', async (t) => {
  await using server = await echoServer()
  await using proxy = await startTcpProxy(server)
  proxy.resetAfter(10)
  const socket = await open(proxy.port)
  socket.write('12345')
  await once(socket, 'data')
  socket.write('678901')
  t.is((await once(socket, 'error'))[0].code, 'ECONNRESET')
  t.is(server.received(), '12345')
})
