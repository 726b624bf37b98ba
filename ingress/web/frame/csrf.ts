import { createHmac, timingSafeEqual } from 'node:crypto'

/** The token that forms of one browser carry: only who reads our pages in it can know it. @param cookie its session or visit */
export function csrfToken(key: Buffer, cookie: string): string {
  return createHmac('sha256', key).update(cookie).digest('base64url')
}

export function isCsrfToken(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
