import type { IncomingHttpHeaders } from 'node:http'

/** Parsed once for consecutive requests of a connection with equal headers. */
export interface RequestHead {
  /** text after the request line, unchanged */
  text: string
  headers: IncomingHttpHeaders
  isLast: boolean
}

export interface FastRequest {
  method: 'GET' | 'HEAD' | 'POST'
  url: string
  head: RequestHead
}

const METHODS = ['GET', 'POST', 'HEAD'] as const
const VERSION = ' HTTP/1.1'
/** Names and values that every parser reads in the same way. */
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

/**
 * Parses the usual ping: one complete HTTP/1.1 request without a body, with harmless headers that occur once. Node's
 * parser reads all others, so that two parsers never disagree about a request.
 * @param text one character per byte
 * @param known head of the previous request
 * @returns null if Node's parser must read the request
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

/** @param text header lines, each after a line end, and the final empty line */
function readHead(text: string): RequestHead | null {
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
    const wish = content.toLowerCase()
    if (wish !== 'keep-alive' && wish !== 'close') return null
    isLast = wish === 'close'
  }
  return headers.host ? { text, headers, isLast } : null
}

const SPACE = 0x20
