import type { ServerResponse } from 'node:http'

const NO_CACHE = 'max-age=0, no-cache, no-store, must-revalidate, private'

let expires = ''
let expiresAt = 0

/** The present time as HTTP writes it; made once a second. */
function httpDate(): string {
  const now = Date.now()
  if (now - expiresAt >= 1000) {
    expiresAt = now - (now % 1000)
    expires = new Date(now).toUTCString()
  }
  return expires
}

/** `OK` or `Created`, with the headers of monitoring behaviour 1.3. @param bodyLimit 0 when the limit is off */
export function answerLogged(response: ServerResponse, status: 200 | 201, text: string, bodyLimit: number): void {
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
    httpDate(),
  ]
  if (bodyLimit > 0) headers.push('Ping-Body-Limit', String(bodyLimit))
  response.writeHead(status, headers)
  response.end(text)
}

/** A refusal: nothing was logged. @param isCacheable whether the no-cache headers are left out (1.3 says which have them) */
export function answerRefused(
  response: ServerResponse,
  status: number,
  text: string,
  options: { isCacheable?: boolean; retryAfterSeconds?: number } = {},
): void {
  const headers = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(Buffer.byteLength(text))]
  if (!options.isCacheable) headers.push('Cache-Control', NO_CACHE, 'Expires', httpDate())
  if (options.retryAfterSeconds !== undefined) headers.push('Retry-After', String(options.retryAfterSeconds))
  response.writeHead(status, headers)
  response.end(text)
}

/** A browser asks whether it may ping; this logs nothing (monitoring behaviour 1.4). */
export function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, OPTIONS',
    'Access-Control-Max-Age': '600',
  })
  response.end()
}
