import type { IncomingMessage } from 'node:http'

/** Beyond this many header lines a request is refused: Node would silently drop those beyond its own limit. */
const MAX_HEADERS = 100

/**
 * What the parser lets pass and we do not: two Host headers, a transfer coding that is not just chunked or is said
 * twice, a target in absolute form (400), too many headers (431), and versions other than 1.0 and 1.1 (505). Asked once
 * for every request, before it goes to either listener.
 * @returns the status of the refusal, after which the connection is to be closed; null when there is none
 */
export function unsafeRequestStatus(request: IncomingMessage): 400 | 431 | 505 | null {
  const { rawHeaders, url, headers } = request
  if (rawHeaders.length > MAX_HEADERS * 2) return 431
  if (request.httpVersionMajor !== 1 || request.httpVersionMinor > 1) return 505
  if (isRepeated(request, 'host')) return 400
  const coding = headers['transfer-encoding']
  // Two proxies may not agree on what other codings, or repeated ones, mean for the end of the body.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 400
  return url?.startsWith('/') || (url === '*' && request.method === 'OPTIONS') ? null : 400
}

/** Whether a header is there more than once, however written. @param name in lower case */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]
    if (given?.length === name.length && given.toLowerCase() === name) count += 1
  }
  return count > 1
}
