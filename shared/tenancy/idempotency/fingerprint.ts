import { hash } from 'node:crypto'
import { canonicalize } from '../../canonical/jcs.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/** Returns true for a valid idempotency key: 1-255 visible ASCII characters (docs/spec/risk-signals.md#idempotency). */
export function isIdempotencyKey(text: string): boolean {
  return KEY.test(text)
}

/** Fingerprint of a request: method, route, path parameters and canonical body; 32 bytes (docs/spec/risk-signals.md#idempotency). */
export function requestFingerprint(request: {
  method: string
  route: string
  params: Readonly<Record<string, string>>
  body: unknown
}): Buffer {
  const { method, route, params, body } = request
  return hash('sha256', canonicalize({ method: method.toUpperCase(), route, params: { ...params }, body }), 'buffer')
}
