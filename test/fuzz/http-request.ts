import type { Random } from '../support/random.ts'
import { garbled, hostileText } from './hostile.ts'
import { mutated, valueFor } from './json-mutation.ts'
import { type FuzzRoute, openApi } from './routes.ts'

/** Names and credentials that a request may contain, all of one tenant. */
export type Known = {
  /** values of path variables by their name */
  variables: Readonly<Record<string, string>>
  apiKey: string
  bearer: string
  cookie: string
  csrf: string
}

type FuzzRequest = {
  bytes: Buffer
  /** false if the server may wait for more bytes */
  isWhole: boolean
  label: string
}

/** Returns a request of a route with up to three errors. */
export function makeRequest(random: Random, routes: readonly FuzzRoute[], known: Known): FuzzRequest {
  const route = random.pick(routes)
  const method = random.oneIn(12)
    ? random.pick(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'BREW'])
    : route.method
  const target = targetOf(random, route, known)
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(random, route, known)
  const headers = headersOf(random, route, known, body)
  const isFramed = frame(random, headers, body?.bytes)
  const head = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  )
  const plain = Buffer.concat([Buffer.from(head, 'latin1'), body?.bytes ?? Buffer.alloc(0)])
  const isGarbled = random.oneIn(12)
  return {
    bytes: isGarbled ? garbled(random, plain) : plain,
    isWhole: isFramed && !isGarbled,
    label: `${route.method} ${route.path}`,
  }
}

function targetOf(random: Random, { path, query }: FuzzRoute, known: Known): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const good = known.variables[name]
    if (good !== undefined && !random.oneIn(4)) return good
    const text = hostileText(random)
    return random.oneIn(3) ? inRequestLine(text) : encodeURIComponent(text.toWellFormed())
  })
  const bent = random.oneIn(15)
    ? random.pick([
        `${filled}/`,
        `/${filled}`,
        filled.toUpperCase(),
        `${filled}/..`,
        `${filled};a=b`,
        `${filled}%00`,
        '*',
        `http://other.example${filled}`,
      ])
    : filled
  if (!random.oneIn(query.length > 0 ? 2 : 8)) return bent
  const pairs = Array.from({ length: 1 + random.int(3) }, () => {
    const name = query.length > 0 && !random.oneIn(4) ? random.pick(query) : hostileText(random).slice(0, 40)
    const value = hostileText(random)
    return random.oneIn(4) ? inRequestLine(`${name}=${value}`) : `${encoded(name)}=${encoded(value)}`
  })
  return `${bent}?${pairs.join('&')}`
}

function bodyOf(random: Random, route: FuzzRoute, known: Known): { type: string; bytes: Buffer } {
  if (route.kind === 'page') {
    const fields = [
      'name',
      'email',
      'password',
      'timeout',
      'grace',
      'schedule',
      'tz',
      'kind',
      'value',
      'url',
      'role',
      'slug',
    ]
    const form = new URLSearchParams(random.oneIn(10) ? {} : { _csrf: known.csrf })
    for (let left = random.int(6); left > 0; left--)
      form.append(random.pick(fields), hostileText(random).toWellFormed())
    return { type: 'application/x-www-form-urlencoded', bytes: maybeGarbled(random, Buffer.from(form.toString())) }
  }
  if (route.body === undefined) return { type: 'text/plain', bytes: Buffer.from(hostileText(random)) }
  const fitting = valueFor(random, route.body, openApi)
  const value = random.oneIn(5) ? fitting : mutated(random, fitting)
  return { type: 'application/json', bytes: maybeGarbled(random, Buffer.from(JSON.stringify(value) ?? '')) }
}

function headersOf(
  random: Random,
  route: FuzzRoute,
  known: Known,
  body: { type: string } | undefined,
): [string, string][] {
  const headers: [string, string][] = [
    ['Host', random.oneIn(30) ? inHeader(hostileText(random)) : '127.0.0.1'],
    ['Connection', 'close'],
  ]
  if (route.kind === 'page') headers.push(['Cookie', random.oneIn(8) ? inHeader(hostileText(random)) : known.cookie])
  if (route.kind === 'api' && !random.oneIn(8)) {
    if (route.path.startsWith('/v1')) headers.push(['Authorization', `Bearer ${known.bearer}`])
    else headers.push(['X-Api-Key', known.apiKey])
  }
  if (body) headers.push(['Content-Type', random.oneIn(10) ? inHeader(hostileText(random)) : body.type])
  const others = [...route.headers, 'Authorization', 'Accept', 'Range', 'If-None-Match', 'Forwarded', 'Accept-Language']
  const more = random.int(3)
  for (let left = more; left > 0; left--) headers.push([random.pick(others), inHeader(hostileText(random))])
  return headers
}

/** Adds the length of the body, sometimes wrong. @returns true if the request ends after that length */
function frame(random: Random, headers: [string, string][], body: Buffer | undefined): boolean {
  if (random.oneIn(40)) {
    headers.push(
      random.pick([
        ['Content-Length', '5'],
        ['Content-Length', '-1'],
        ['Transfer-Encoding', 'chunked'],
        ['Transfer-Encoding', 'gzip'],
        ['Expect', '100-continue'],
      ]),
    )
    return false
  }
  if (body) headers.push(['Content-Length', String(body.length)])
  return true
}

function maybeGarbled(random: Random, bytes: Buffer): Buffer {
  return random.oneIn(8) ? garbled(random, bytes) : bytes
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Removes characters that would end the request line. Garbled requests contain them. */
function inRequestLine(text: string): string {
  return text.replace(/[\s\0]/g, '+').slice(0, 8_000)
}

function inHeader(text: string): string {
  return text.replace(/[\r\n\0]/g, '').slice(0, 4_000)
}
