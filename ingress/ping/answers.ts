import { SAFETY_HEADERS } from '../safety-headers.ts'

/** Implemented by Node's `ServerResponse` and by connections of the fast path. */
export interface Reply {
  readonly destroyed: boolean
  readonly headersSent: boolean
  /** @param headers names and values alternate */
  writeHead(status: number, headers: string[]): unknown
  end(text?: string): unknown
}

// Without a policy of content: browsers show the text of a ping and run nothing in it, and a ping should stay small.
const SAFETY_PAIRS = ['X-Content-Type-Options', SAFETY_HEADERS['X-Content-Type-Options']]

const NO_CACHE = 'max-age=0, no-cache, no-store, must-revalidate, private'

let expires = ''
let expiresAt = 0

function httpDate(): string {
  const now = Date.now()
  if (now - expiresAt >= 1000) {
    expiresAt = now - (now % 1000)
    expires = new Date(now).toUTCString()
  }
  return expires
}

/**
 * Sends `OK` or `Created` with the headers of docs/spec/monitoring.md#ping-response-headers.
 * @param bodyLimit bytes; 0 if the limit is off
 */
export function answerLogged(reply: Reply, status: 200 | 201, text: string, bodyLimit: number): void {
  reply.writeHead(status, loggedHeaders(text, bodyLimit))
  reply.end(text)
}

let logged = { text: '', bodyLimit: 0, expires: '', headers: [] as string[] }

/** Cached, because almost all responses of one second are equal. */
function loggedHeaders(text: string, bodyLimit: number): string[] {
  const expires = httpDate()
  if (logged.text === text && logged.bodyLimit === bodyLimit && logged.expires === expires) return logged.headers
  const headers = [
    'Content-Type',
    'text/plain; charset=utf-8',
    'Content-Length',
    String(text.length),
    'Access-Control-Allow-Origin',
    '*',
    'Cache-Control',
    NO_CACHE,
    'Expires',
    expires,
    ...SAFETY_PAIRS,
  ]
  if (bodyLimit > 0) headers.push('Ping-Body-Limit', String(bodyLimit))
  logged = { text, bodyLimit, expires, headers }
  return headers
}

/**
 * Refuses a ping that was not logged.
 * @param isCacheable true to omit the no-cache headers (docs/spec/monitoring.md#ping-response-headers)
 */
export function answerRefused(
  reply: Reply,
  status: number,
  text: string,
  options: { isCacheable?: boolean; retryAfterSeconds?: number } = {},
): void {
  const headers = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(Buffer.byteLength(text))]
  if (!options.isCacheable) headers.push('Cache-Control', NO_CACHE, 'Expires', httpDate())
  headers.push(...SAFETY_PAIRS)
  if (options.retryAfterSeconds !== undefined) headers.push('Retry-After', String(options.retryAfterSeconds))
  reply.writeHead(status, headers)
  reply.end(text)
}

/** Logs nothing (docs/spec/monitoring.md#ping-methods). */
export function answerPreflight(reply: Reply): void {
  reply.writeHead(204, [
    'Access-Control-Allow-Origin',
    '*',
    'Access-Control-Allow-Methods',
    'GET, HEAD, POST, OPTIONS',
    'Access-Control-Max-Age',
    '600',
  ])
  reply.end()
}
