import type { IncomingHttpHeaders } from 'node:http'

/** What a request says besides its first line, read once for all requests of a connection that say the same. */
export interface RequestHead {
  /** everything behind the first line, as it came */
  text: string
  headers: IncomingHttpHeaders
  /** whether the client closes the connection behind the answer */
  isLast: boolean
}

/** A request that is complete and has no body. */
export interface FastRequest {
  method: 'GET' | 'HEAD' | 'POST'
  /** path and query, as sent */
  url: string
  head: RequestHead
}

const METHODS = ['GET', 'POST', 'HEAD'] as const
const VERSION = ' HTTP/1.1'
/** Names and values whose meaning does not depend on who reads them. */
const URL_TEXT = /^\/ping\/[\w/?&=.%~-]+$/
const HEADER_LINE = /^([A-Za-z-]+):([\t\x20-\x7e]*)$/
/** Headers that say nothing of where a request ends, of what is to be done with it, or of who may send it. */
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

/**
 * Reads what a client of pings sends all day: one request by HTTP/1.1 without a body, whole, in one piece, with headers
 * that are harmless and said once. It knows nothing of HTTP beyond that, so that no two readers can disagree about what
 * it takes: all else is left to Node's parser.
 * @param text of the bytes, a character each
 * @param known head of the request before on the same connection
 * @returns null for whatever is not plain to see
 */
export function readFastRequest(text: string, known: RequestHead | null): FastRequest | null {
  const method = METHODS.find((name) => text.startsWith(name) && text.charCodeAt(name.length) === SPACE)
  const lineEnd = text.indexOf('\r\n')
  const urlEnd = lineEnd - VERSION.length
  if (!method || lineEnd === -1 || !text.startsWith(VERSION, urlEnd)) return null
  const url = text.slice(method.length + 1, urlEnd)
  if (!URL_TEXT.test(url)) return null
  const behind = text.slice(lineEnd)
  const head = known?.text === behind ? known : readHead(behind)
  return head && { method, url, head }
}

/** @param text header lines with a line end before each, and the empty line that ends them */
function readHead(text: string): RequestHead | null {
  if (!text.endsWith('\r\n\r\n') || text.length === 4) return null
  const headers: IncomingHttpHeaders = {}
  let isLast = false
  for (const line of text.slice(2, -4).split('\r\n')) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? []
    const key = name.toLowerCase()
    const said = value.trim()
    if (Object.hasOwn(headers, key)) return null
    headers[key] = said
    if (HARMLESS.has(key)) continue
    if (key === 'content-length' && said === '0') continue
    if (key !== 'connection') return null
    const wish = said.toLowerCase()
    if (wish !== 'keep-alive' && wish !== 'close') return null
    isLast = wish === 'close'
  }
  return headers.host ? { text, headers, isLast } : null
}

const SPACE = 0x20
