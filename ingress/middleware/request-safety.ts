import type { IncomingMessage } from 'node:http'

/** Beyond this many header lines a request is refused: Node would silently drop those beyond its own limit. */
const MAX_HEADERS = 100

/**
 * What the parser lets pass and we do not: two Host headers or a target in absolute form (400), and too many headers
 * (431). Asked once for every request, before it goes to either door.
 * @returns the status of the refusal, after which the connection is to be closed; null when there is none
 */
export function unsafeRequestStatus(request: IncomingMessage): 400 | 431 | null {
  const { rawHeaders, url } = request
  if (rawHeaders.length > MAX_HEADERS * 2) return 431
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) return 400
  return url?.startsWith('/') || (url === '*' && request.method === 'OPTIONS') ? null : 400
}
