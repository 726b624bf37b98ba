import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionCap } from '#shared/platform/http/connection-cap.ts'
import { createBaseRemover } from './base-path.ts'
import { hasBody } from './middleware/body.ts'
import { unsafeRequestStatus } from './middleware/request-safety.ts'
import { type FastHandler, startFastConnections } from './ping/fast-path/fast-connections.ts'
import { PUSH_PREFIX } from './ping/push.ts'
import { discardRestOfBody } from './replies.ts'

const DEADLINES: Deadlines = { headersMs: 10_000, requestMs: 30_000, answerMs: 30_000 }
/** Precision of a deadline. */
const CHECK_EVERY_MS = 2_000
const KEEP_ALIVE_MS = 65_000
/** Further connections are refused, because otherwise all clients become slow. */
const MAX_CONNECTIONS = 20_000

const TOO_MANY_CONNECTIONS =
  'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'

/** Milliseconds, from the first byte of a request; for the first request from the start of the connection. */
export interface Deadlines {
  headersMs: number
  /** not less than `headersMs` */
  requestMs: number
  /** maximum time without progress of a response */
  answerMs: number
}

export interface HttpServer extends AsyncDisposable {
  port: number
}

export interface HttpListeners {
  ping: (request: IncomingMessage, response: ServerResponse) => void
  app: (request: IncomingMessage, response: ServerResponse) => void
  /** handler of the fast path; without it `ping` handles all pings */
  plain?: FastHandler | undefined
}

/**
 * Opens the HTTP server of a process: `/ping/` uses its own handler, everything else uses Express. Deadlines end slow
 * headers, slow bodies and unread responses. Closing waits for requests in progress, then closes idle connections.
 * @param options.basePath path of PUBLIC_URL, which requests may have or not
 * @param draining once aborted, every response closes its connection
 */
export async function openHttpServer(
  options: {
    port: number
    host: string
    deadlines?: Partial<Deadlines>
    connections?: ConnectionCap
    basePath?: string
  },
  listeners: HttpListeners,
  draining: AbortSignal = new AbortController().signal,
): Promise<HttpServer> {
  const { headersMs, requestMs, answerMs } = { ...DEADLINES, ...options.deadlines }
  const { basePath = '' } = options
  const removeBase = createBaseRemover(basePath)
  let isClosing = false
  const refused = new WeakSet<Socket>()
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersMs),
      noDelay: true,
    },
    (request: IncomingMessage, response: ServerResponse) => {
      // The parser continues with data of the same packet, but a request behind a refused one must not run.
      if (refused.has(request.socket)) return
      if (hasBody(request)) discardRestOfBody(request, () => refused.add(request.socket))
      const refusal = unsafeRequestStatus(request)
      if (refusal !== null) {
        refused.add(request.socket)
        response.writeHead(refusal, { Connection: 'close' }).end()
        return
      }
      // `Connection: close` makes the client reconnect to another process without an error.
      if (isClosing || draining.aborted) response.shouldKeepAlive = false
      if (!removeBase(request, response)) return
      const { url = '' } = request
      if (url.startsWith('/ping/') || url.startsWith(PUSH_PREFIX)) listeners.ping(request, response)
      else listeners.app(request, response)
    },
  )
  server.maxConnections = MAX_CONNECTIONS
  const handOver = takeConnections(server)
  const plain =
    listeners.plain &&
    startFastConnections({
      handle: listeners.plain,
      basePath,
      handOver,
      isEnding: () => isClosing || draining.aborted,
      headersMs,
      keepAliveMs: KEEP_ALIVE_MS,
    })
  server.on('connection', (socket: Socket) => {
    if (options.connections?.admit(socket) === false) refuse(socket)
    else if (plain) plain.serve(socket)
    else handOver(socket)
  })
  cutSlowReaders(server, answerMs)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, 2048, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    async [Symbol.asyncDispose]() {
      isClosing = true
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      plain?.closeIdle()
      await closed
    },
  }
}

/** Detaches Node's server from new connections. @returns function that passes a connection to it */
function takeConnections(server: Server): (socket: Socket) => void {
  const [serve, ...others] = server.listeners('connection')
  if (!serve || others.length > 0) throw new Error('a new server has one listener for connections')
  server.removeAllListeners('connection')
  return (socket) => void Reflect.apply(serve, server, [socket])
}

/** Refuses a connection. Data that it has already sent is not a request. */
function refuse(socket: Socket): void {
  socket.on('error', () => socket.destroy()).resume()
  socket.end(TOO_MANY_CONNECTIONS, () => socket.destroy())
}

/**
 * Destroys connections whose client reads nothing while a response waits. A socket timeout is not sufficient, because
 * any received byte resets it.
 */
function cutSlowReaders(server: Server, answerMs: number): void {
  const sockets = new Set<Socket>()
  const stalled = new WeakMap<Socket, { progress: string; since: number }>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  function check(socket: Socket, now: number): void {
    if (socket.writableLength === 0) {
      stalled.delete(socket)
      return
    }
    const progress = `${socket.bytesWritten} ${unsentBytes(socket)}`
    const known = stalled.get(socket)
    if (known?.progress !== progress) stalled.set(socket, { progress, since: now })
    else if (now - known.since >= answerMs) socket.destroy()
  }
  const timer = setInterval(
    () => {
      const now = performance.now()
      for (const socket of sockets) check(socket, now)
    },
    Math.min(CHECK_EVERY_MS, answerMs / 2),
  ).unref()
  server.once('close', () => clearInterval(timer))
}

/**
 * Returns the bytes that the kernel has not accepted. Node has no public member for it and uses this one internally.
 */
function unsentBytes(socket: Socket): unknown {
  const handle: unknown = Reflect.get(socket, '_handle')
  return typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : 0
}
