import { connect, createServer, type Socket } from 'node:net'

/** A cluster node behind a loopback proxy that shuts down while a client connects. */
export interface LeavingNode extends AsyncDisposable {
  /** The same URL, through the proxy. */
  through(url: string): string
  /** Number of next connections that are closed in the packet that opens them, as a node does at shutdown. */
  endAtOnce(count: number): void
  /** connections closed this way */
  ended(): number
  /** Resets every open connection. */
  cut(): void
}

/** `connection.open-ok` of AMQP 0-9-1: class 10, method 41, an empty short string. */
const OPEN_OK = Buffer.from('01000000000005000a002900ce', 'hex')

/** Starts the proxy in front of a real broker. */
export async function openLeavingNode(target: { port: number }): Promise<LeavingNode> {
  let toEnd = 0
  let ended = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const broker = connect(target.port, '127.0.0.1')
    const end = () => {
      for (const socket of [client, broker]) {
        sockets.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of [client, broker]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.on('data', (chunk) => broker.write(chunk))
    broker.on('data', (chunk) => {
      if (toEnd === 0 || !chunk.includes(OPEN_OK)) return void client.write(chunk)
      toEnd -= 1
      ended += 1
      // One write, so that the client reads both frames at once. The broker ignores its reply.
      client.removeAllListeners('data').resume()
      broker.removeAllListeners('data').resume()
      client.write(Buffer.concat([chunk, shutdownFrame()]))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    through(url) {
      const other = new URL(url)
      other.host = `127.0.0.1:${address.port}`
      return other.href
    },
    endAtOnce: (count) => {
      toEnd = count
    },
    ended: () => ended,
    cut,
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** `connection.close` as RabbitMQ sends it when its node shuts down: class 10, method 50, code 320, without a method. */
function shutdownFrame(): Buffer {
  const text = Buffer.from("CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'")
  const payload = Buffer.concat([
    Buffer.from('000a00320140', 'hex'),
    Buffer.from([text.length]),
    text,
    Buffer.from('00000000', 'hex'),
  ])
  const head = Buffer.from('01000000000000', 'hex')
  head.writeUInt32BE(payload.length, 3)
  return Buffer.concat([head, payload, Buffer.from('ce', 'hex')])
}
