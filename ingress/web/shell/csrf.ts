import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { isBase64url } from '#shared/canonical/base64url.ts'

const BYTES = 32

/**
 * The token that forms of one browser carry: only who reads our pages in it can know it. Each call masks it anew, so
 * that no two pages hold the same text: compressing a page together with text from its address would tell it bit by bit.
 * @param cookie its session or visit
 */
export function csrfToken(key: Buffer, cookie: string): string {
  const mask = randomBytes(BYTES)
  return Buffer.concat([mask, xor(mask, tokenOf(key, cookie))]).toString('base64url')
}

export function isCsrfToken(key: Buffer, cookie: string, given: string): boolean {
  if (!isBase64url(given)) return false
  const bytes = Buffer.from(given, 'base64url')
  // Forms of the release before hold it unmasked.
  if (bytes.length === BYTES) return timingSafeEqual(bytes, tokenOf(key, cookie))
  if (bytes.length !== 2 * BYTES) return false
  return timingSafeEqual(xor(bytes.subarray(0, BYTES), bytes.subarray(BYTES)), tokenOf(key, cookie))
}

function tokenOf(key: Buffer, cookie: string): Buffer {
  return createHmac('sha256', key).update(cookie).digest()
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))
}
