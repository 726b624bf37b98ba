import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { waitUntil } from './recorded.ts'

export interface RecordedRequest {
  method: string
  /** path and query as sent */
  url: string
  path: string
  query: URLSearchParams
  headers: http.IncomingHttpHeaders
  body: Buffer
  /** the TLS name the client requested; null over plain http */
  servername: string | null
  receivedAt: number
  /** number of the connection, so that reuse is visible */
  connection: number
}

/** The action of the sink on one request. Without `misbehave` it answers as a well-behaved server. */
interface SinkAnswer {
  status?: number
  headers?: Record<string, string | string[]>
  body?: string | Buffer
  /**
   * `hang`: never answers. `reset`: drops the connection unanswered. `reset-midway`: drops it in the body. `drip`: one
   * byte every 50 ms for ever. `inform`: endless 1xx answers. `huge`: an endless body at full speed. `garbage`: bytes
   * that are not HTTP.
   */
  misbehave?: 'hang' | 'reset' | 'reset-midway' | 'drip' | 'inform' | 'huge' | 'garbage'
}

export interface HttpSink extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** every request whose body arrived completely, in order of arrival */
  readonly requests: RecordedRequest[]
  /** answers for the next requests, first in first out; `respond` is used when the queue is empty */
  enqueue(...answers: SinkAnswer[]): void
  /** the answer to other requests; 200 `ok` by default. May be asynchronous, to delay a response. */
  respond: (request: RecordedRequest) => SinkAnswer | Promise<SinkAnswer>
  /** resolves when that many requests arrived, or with the first request that matches */
  waitFor(wanted: number | ((request: RecordedRequest) => boolean), deadlineMs?: number): Promise<RecordedRequest>
}

export interface HttpSinkOptions {
  tls?: { key: string; cert: string }
  host?: string
  port?: number
}

/** Starts an HTTP server on loopback that records requests. It replaces the external services of a test. */
export async function openHttpSink(options: HttpSinkOptions = {}): Promise<HttpSink> {
  const requests: RecordedRequest[] = []
  const queued: SinkAnswer[] = []
  const connections = new WeakMap<object, number>()
  let connectionCount = 0

  const onRequest = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const recorded = await record(request, connections.get(request.socket) ?? 0)
    requests.push(recorded)
    const answer = queued.shift() ?? (await sink.respond(recorded))
    give(answer, request, response)
  }
  const listener: http.RequestListener = (request, response) => {
    // A client that disconnects during its request must not end the sink.
    onRequest(request, response).catch(() => response.destroy())
  }
  const server = options.tls ? https.createServer(options.tls, listener) : http.createServer(listener)
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: object) => {
    connectionCount += 1
    connections.set(socket, connectionCount)
  })
  const host = options.host ?? '127.0.0.1'
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  // listening on TCP always yields an AddressInfo
  const { port } = server.address() as AddressInfo

  const sink: HttpSink = {
    url: `${options.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    requests,
    enqueue(...answers) {
      queued.push(...answers)
    },
    respond: () => ({ status: 200, body: 'ok' }),
    async waitFor(wanted, deadlineMs) {
      return waitUntil(requests, wanted, `http sink on port ${port}`, deadlineMs)
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
  return sink
}

async function record(request: http.IncomingMessage, connection: number): Promise<RecordedRequest> {
  const receivedAt = Date.now()
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const url = request.url ?? '/'
  const parsed = new URL(url, 'http://sink.invalid')
  const name = 'servername' in request.socket ? request.socket.servername : null
  return {
    method: request.method ?? '',
    url,
    path: parsed.pathname,
    query: parsed.searchParams,
    headers: request.headers,
    body: Buffer.concat(chunks),
    servername: typeof name === 'string' ? name : null,
    receivedAt,
    connection,
  }
}

function give(answer: SinkAnswer, request: http.IncomingMessage, response: http.ServerResponse): void {
  const { socket } = request
  const status = answer.status ?? 200
  switch (answer.misbehave) {
    case 'hang':
      return
    case 'reset':
      socket.resetAndDestroy()
      return
    case 'garbage':
      socket.end('this is not HTTP\r\n\r\n')
      return
    case 'reset-midway':
      response.writeHead(status, { 'content-length': '1000' })
      response.write('half', () => socket.resetAndDestroy())
      return
    case 'inform':
      flood(response, () => response.writeProcessing())
      return
    case 'drip':
      response.writeHead(status, answer.headers)
      drip(response)
      return
    case 'huge':
      response.writeHead(status, answer.headers)
      pour(response)
      return
    case undefined:
      response.writeHead(status, answer.headers)
      response.end(answer.body ?? '')
  }
}

function flood(response: http.ServerResponse, send: () => void): void {
  const timer = setInterval(send, 1)
  response.once('close', () => clearInterval(timer))
}

function drip(response: http.ServerResponse): void {
  const timer = setInterval(() => response.write('.'), 50)
  response.once('close', () => clearInterval(timer))
}

function pour(response: http.ServerResponse): void {
  const block = Buffer.alloc(16 * 1024, 'x')
  const more = () => {
    if (response.destroyed) return
    if (response.write(block)) setImmediate(more)
    else response.once('drain', more)
  }
  more()
}
