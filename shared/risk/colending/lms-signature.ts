import { createHmac, timingSafeEqual } from 'node:crypto'
import { secretKeyOf } from '../../webhooks/signature.ts'

/** A partner's clock may differ. */
const TOLERANCE_SECONDS = 300

export interface SignedRequest {
  /** `x-lms-signature`; undefined when absent */
  signature: string | undefined
  /** `x-lms-timestamp`, Unix seconds; undefined when absent */
  timestamp: string | undefined
  body: Buffer
}

/**
 * See docs/spec/transparency.md#webhook-payload. The signature is HMAC-SHA256 as hex in either case, `sha256=` and
 * hex, or base64. The key is the decoded base64 of a `whsec_` secret; some partners use the text of the secret. With
 * a timestamp, `time.body` is signed, and the time must be near ours.
 */
export function isSignedBy(secret: string, request: SignedRequest, nowSeconds: number): boolean {
  const actual = signatureBytes(request.signature)
  if (!actual) return false
  if (request.timestamp !== undefined && !isNear(request.timestamp, nowSeconds)) return false
  const prefix = request.timestamp === undefined ? '' : `${request.timestamp}.`
  const keys = [secretKeyOf(secret), Buffer.from(secret, 'utf8')]
  // Both are always computed, so that the duration reveals nothing.
  const checkedTokens = keys.map((key) => {
    const expected = createHmac('sha256', key).update(prefix, 'utf8').update(request.body).digest()
    return timingSafeEqual(expected, actual)
  })
  return checkedTokens.includes(true)
}

function signatureBytes(signature: string | undefined): Buffer | undefined {
  if (signature === undefined) return undefined
  const hex = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(signature)?.[1]
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  return /^[A-Za-z0-9+/]{43}=$/.test(signature) ? Buffer.from(signature, 'base64') : undefined
}

function isNear(timestamp: string, nowSeconds: number): boolean {
  return /^[0-9]{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - nowSeconds) <= TOLERANCE_SECONDS
}

/** For a system that cannot sign; derived from its secret so that it need not be stored. */
export function pathToken(secret: string, integrationId: string): string {
  return createHmac('sha256', secretKeyOf(secret)).update(`lms-path:${integrationId}`, 'utf8').digest('hex')
}

export function isPathToken(secret: string, integrationId: string, actual: string): boolean {
  const expected = Buffer.from(pathToken(secret, integrationId), 'hex')
  const bytes = Buffer.from(actual, 'hex')
  return bytes.length === expected.length && timingSafeEqual(expected, bytes)
}
