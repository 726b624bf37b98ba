import type { IncomingHttpHeaders } from 'node:http'

/** The parsed headers of a request. A later request with the same header text reuses them. */
export interface RequestHead {
  /** header lines as received, from the end of the request line to the empty line */
  text: string
  headers: IncomingHttpHeaders
  /** the client sent `Connection: close` */
  isLast: boolean
}

export interface FastRequest {
  method: 'GET' | 'HEAD' | 'POST'
  url: string
  head: RequestHead
}

const METHODS = ['GET', 'POST', 'HEAD'] as const
const VERSION = ' HTTP/1.1'
const SPACE = 0x20
/** These patterns match only text that Node's parser would parse to the same values. */
const URL_TEXT = /^\/ping\/[\w/?&=.%~-]+$/
const HEADER_LINE = /^([A-Za-z-]+):([\t\x20-\x7e]*)$/
/** Headers without effect on framing, on the connection or on authorization. */
const HARMLESS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'forwarded',
  'host',
  'pragma',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-ping-source',
  'x-real-ip',
  'x-request-id',
])

/** Addresses of pings. */
export interface PingAddresses {
  pattern: RegExp
  /** may precede `/ping/`, and is removed; empty at the root of a host */
  basePath: string
}

/** Compiles the pattern once, because each request is compared with it. */
export function pingAddresses(basePath: string): PingAddresses {
  if (basePath === '') return { pattern: URL_TEXT, basePath }
  return { pattern: new RegExp(URL_TEXT.source.replace('^', `^(?:${basePath.replaceAll('.', '\\.')})?`)), basePath }
}

const AT_ROOT = pingAddresses('')

/**
 * Parses a complete HTTP/1.1 ping request without a body whose headers are all harmless and occur once. Other requests
 * are left to Node's parser, so that the two parsers never interpret a request differently.
 * @param text one character per byte
 * @param previous head of an earlier request, reused if the header text is equal
 * @returns null if Node's parser must parse the request
 */
export function parseFastRequest(
  text: string,
  previous: RequestHead | null,
  { pattern, basePath }: PingAddresses = AT_ROOT,
): FastRequest | null {
  const method = METHODS.find((name) => text.startsWith(name) && text.charCodeAt(name.length) === SPACE)
  const lineEnd = text.indexOf('\r\n')
  const urlEnd = lineEnd - VERSION.length
  if (!method || lineEnd === -1 || !text.startsWith(VERSION, urlEnd)) return null
  let url = text.slice(method.length + 1, urlEnd)
  if (!pattern.test(url)) return null
  // The pattern has matched, so an address that does not begin with /ping/ begins with the base path.
  if (basePath !== '' && !url.startsWith('/ping/')) url = url.slice(basePath.length)
  const headText = text.slice(lineEnd)
  const head = previous?.text === headText ? previous : parseHead(headText)
  return head && { method, url, head }
}

/** @param text header lines with the line end before each of them, and the final empty line */
function parseHead(text: string): RequestHead | null {
  if (!text.endsWith('\r\n\r\n') || text.length === 4) return null
  const headers: IncomingHttpHeaders = {}
  let isLast = false
  for (const line of text.slice(2, -4).split('\r\n')) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? []
    const key = name.toLowerCase()
    const content = value.trim()
    if (Object.hasOwn(headers, key)) return null
    headers[key] = content
    if (HARMLESS.has(key)) continue
    if (key === 'content-length' && content === '0') continue
    if (key !== 'connection') return null
    const connection = content.toLowerCase()
    if (connection !== 'keep-alive' && connection !== 'close') return null
    isLast = connection === 'close'
  }
  return headers.host ? { text, headers, isLast } : null
}
