import type { Known } from './http-request.ts'
import type { FuzzRoute } from './routes.ts'

/** Body size that every route accepts. */
const BODY_BYTES = 1_000_000
const HEADER_BYTES = 12_000
const QUERY_BYTES = 7_000

/** A request of the maximum accepted size, with the credentials of a permitted tenant. */
export interface LargeRequest {
  label: string
  bytes: Buffer
}

/**
 * Returns the largest requests of a route. Writes have a body of one text, many members, many values or deep nesting, or
 * a form of one field or of many; reads have a long query. All have the maximum number of headers.
 */
export function largestRequests(route: FuzzRoute, known: Known): LargeRequest[] {
  const path = route.path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(known.variables[name] ?? 'x'.repeat(100)),
  )
  const isRead = route.method === 'GET' || route.method === 'HEAD'
  if (isRead) return [request(route, known, `${path}?${longQuery(route)}`)]
  return Object.entries(bodiesOf(route, known)).map(([name, body]) => request(route, known, path, body, name))
}

function bodiesOf(route: FuzzRoute, known: Known): Record<string, string> {
  if (route.kind === 'page') {
    const start = `_csrf=${encodeURIComponent(known.csrf)}&`
    return {
      'one long field': `${start}name=${'x'.repeat(BODY_BYTES - 200)}`,
      'many fields': start + filled((n) => `check=${n}&`, BODY_BYTES - 200),
    }
  }
  if (route.kind === 'ping') return { 'a long body': 'x'.repeat(BODY_BYTES) }
  return {
    'one long text': `{"name": "${'x'.repeat(BODY_BYTES - 20)}"}`,
    'many members': `{"name": "x", ${filled((n) => `"m${n}": 0, `, BODY_BYTES - 40)}"z": 0}`,
    'many values': `{"name": "x", "more": [${filled(() => '0,', BODY_BYTES - 40)}0]}`,
    'deep nesting': `{"name": "x", "more": ${'['.repeat(60)}${']'.repeat(60)}}`,
  }
}

function longQuery({ query }: FuzzRoute): string {
  const names = query.length > 0 ? query : ['tag']
  return filled((n) => `${names[n % names.length]}=${'y'.repeat(20)}${n}&`, QUERY_BYTES)
}

function request(route: FuzzRoute, known: Known, target: string, body?: string, name = 'a long query'): LargeRequest {
  const proof =
    route.kind === 'page'
      ? `Cookie: ${known.cookie}`
      : route.path.startsWith('/v1')
        ? `Authorization: Bearer ${known.bearer}`
        : `X-Api-Key: ${known.apiKey}`
  const type = route.kind === 'page' ? 'application/x-www-form-urlencoded' : 'application/json'
  const head = [
    `${route.method} ${target} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Connection: close',
    proof,
    `X-Idempotency-Key: ${crypto.randomUUID()}`,
    `X-Padding: ${'p'.repeat(HEADER_BYTES - QUERY_BYTES)}`,
    ...(body === undefined ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]),
  ].join('\r\n')
  return { label: `${route.method} ${route.path} with ${name}`, bytes: Buffer.from(`${head}\r\n\r\n${body ?? ''}`) }
}

/** Concatenates pieces up to a length. */
function filled(piece: (n: number) => string, length: number): string {
  const pieces: string[] = []
  for (let n = 0, size = 0; size < length; n++) {
    const next = piece(n)
    pieces.push(next)
    size += next.length
  }
  return pieces.join('')
}
