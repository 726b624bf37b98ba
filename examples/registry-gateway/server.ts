import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Answer, type GatewayRequest, jsonAnswer, refusalAnswer } from './adapter.ts'
import type { Gateway } from './gateway.ts'
import { Refusal, sha256 } from './rules.ts'

export interface ServerOptions {
  gateway: Gateway
  token: string
  adminToken: string
  /** path segment below which LEI records need no token */
  leiPath: string | undefined
  /** answers of `/consents` and `/notify`; undefined for another path */
  admin: (request: AdminRequest) => Promise<Answer | undefined>
  health: () => Promise<object>
  metrics: () => Promise<string>
  /** returns true if the state can be written */
  isWritable: () => boolean
  /** reports a fault of this program, without the request */
  fault: (error: unknown) => void
}

export interface AdminRequest {
  method: string
  path: string
  isAdmin: boolean
  organisation: string | null
  /** Reads the body, after the caller was authenticated. */
  readBody: () => Promise<string>
}

const BASE = 'http://gateway.invalid'
const MAX_BODY_BYTES = 64 * 1024

/** Serves the contract, `/consents`, `/notify`, `/health`, `/healthz` and `/metrics`. */
export function createGatewayServer(options: ServerOptions): Server {
  return createServer(
    { requestTimeout: 15_000, headersTimeout: 10_000, maxHeaderSize: 16_384 },
    (request, response) => {
      handle(request, options)
        .catch((error: unknown) => {
          if (error instanceof Refusal) return refusalAnswer(error)
          options.fault(error)
          return jsonAnswer(500, {})
        })
        .then((answer) => send(response, answer))
        .catch(() => response.destroy())
    },
  )
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { 'cache-control': 'no-store', ...headers, 'content-length': body.length }).end(body)
}

async function handle(request: IncomingMessage, options: ServerOptions): Promise<Answer> {
  // A target such as `//` is no address.
  if (!URL.canParse(request.url ?? '/', BASE)) return unknownPath()
  const url = new URL(request.url ?? '/', BASE)
  const method = request.method ?? 'GET'
  const path = url.pathname
  if (path === '/healthz') return jsonAnswer(options.isWritable() ? 200 : 503, {})
  if (path === '/metrics' && isLoopback(request)) return textAnswer(await options.metrics())
  const isAdmin = hasToken(request, options.adminToken)
  if (path === '/health') return isAdmin ? jsonAnswer(200, await options.health()) : unauthorised()
  if (path.startsWith('/consents') || path.startsWith('/notify/')) {
    const organisation = header(request, 'x-organisation')
    const read = async () => await readBody(request)
    return (await options.admin({ method, path, isAdmin, organisation, readBody: read })) ?? unknownPath()
  }
  const leiPrefix = `/lei/${options.leiPath}`
  const isLei = options.leiPath !== undefined && path.startsWith(`${leiPrefix}/`)
  if (!isLei && !hasToken(request, options.token)) return unauthorised()
  const body = method === 'POST' ? await readBody(request) : ''
  const gatewayRequest: GatewayRequest = {
    method,
    path: isLei ? path.slice(leiPrefix.length) : path,
    query: Object.fromEntries(url.searchParams),
    handle: header(request, 'x-consent-handle'),
    organisation: header(request, 'x-organisation'),
  }
  return await options.gateway.answer(gatewayRequest, header(request, 'x-request-id'), body)
}

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' && value !== '' ? value.slice(0, 200) : null
}

function hasToken(request: IncomingMessage, token: string): boolean {
  const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  // Hashes have equal lengths, which the comparison needs.
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)))
}

function isLoopback({ socket }: IncomingMessage): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request) {
      size += chunk.length
      if (size > MAX_BODY_BYTES) throw new Refusal(413, 'UNPARSEABLE')
      chunks.push(chunk)
    }
  } catch (error) {
    // A client that went away is no fault of this program.
    throw error instanceof Refusal ? error : new Refusal(400, 'UNPARSEABLE')
  }
  return Buffer.concat(chunks).toString()
}

function textAnswer(text: string): Answer {
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4' }, body: Buffer.from(text) }
}

function unauthorised(): Answer {
  return jsonAnswer(401, { code: 'NOT_ENTITLED' })
}

function unknownPath(): Answer {
  return jsonAnswer(404, { code: 'NOT_FOUND' })
}
