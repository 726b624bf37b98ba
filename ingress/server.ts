import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Express } from 'express'
import { unsafeRequestStatus } from './middleware/request-safety.ts'
import type { PingHandler } from './ping/handler.ts'

/** Until a request must have come: its headers, and all of it with its body. */
const DEADLINES: Deadlines = { headersMs: 10_000, requestMs: 30_000 }
/** How often connections are looked at: a deadline is kept to within this. */
const LOOKS_EVERY_MS = 2_000
const KEEP_ALIVE_MS = 65_000
/** Open connections of one process; beyond it new ones are refused rather than everybody served slowly. */
const MAX_CONNECTIONS = 20_000

/** From the first byte of a request, of the first one from the connection on; milliseconds. */
export interface Deadlines {
  headersMs: number
  /** not less than `headersMs` */
  requestMs: number
}

export interface HttpServer extends AsyncDisposable {
  port: number
}

/**
 * The HTTP server of a process: pings go straight to their handler, everything else to Express. Slow headers and slow
 * bodies are cut by a deadline. Closing stops accepting, lets requests finish, then closes idle connections.
 * @param draining once aborted, every answer ends its connection; requests are still served
 */
export async function openHttpServer(
  options: { port: number; host: string; deadlines?: Deadlines },
  doors: { ping: PingHandler; app: Express },
  draining: AbortSignal = new AbortController().signal,
): Promise<HttpServer> {
  const { headersMs, requestMs } = options.deadlines ?? DEADLINES
  let isClosing = false
  const refused = new WeakSet<Socket>()
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(LOOKS_EVERY_MS, headersMs),
      noDelay: true,
    },
    (request: IncomingMessage, response: ServerResponse) => {
      // The parser goes on with what came in the same packet: a request hidden behind a refused one must not run.
      if (refused.has(request.socket)) return
      const refusal = unsafeRequestStatus(request)
      if (refusal !== null) {
        refused.add(request.socket)
        response.writeHead(refusal, { Connection: 'close' }).end()
        return
      }
      // Closes the connection behind this answer, which says so: the client goes elsewhere without an error.
      if (isClosing || draining.aborted) response.shouldKeepAlive = false
      if (request.url?.startsWith('/ping/')) doors.ping(request, response)
      else doors.app(request, response)
    },
  )
  server.maxConnections = MAX_CONNECTIONS
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
      await closed
    },
  }
}
