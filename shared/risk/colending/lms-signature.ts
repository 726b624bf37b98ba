import { createHmac, timingSafeEqual } from 'node:crypto'
import { secretKeyOf } from '../../webhooks/signature.ts'

/** How far a partner's clock may differ when it signs a time. */
const TOLERANCE_SECONDS = 300

export interface SignedRequest {
  /** `x-lms-signature`; undefined when absent */
  signature: string | undefined
  /** `x-lms-timestamp`, Unix seconds; undefined when absent */
  timestamp: string | undefined
  body: Buffer
}

/**
 * Verifies that a partner signed exactly these bytes (docs/spec/transparency.md#webhook-payload). The signature is HMAC-SHA256 as hex in
 * either case, `sha256=` and hex, or base64. The key of a `whsec_` secret is what its base64 stands for; partners that
 * use its text instead are understood as well. With a time, `time.body` is signed, and the time must be near ours.
 */
export function isSignedBy(secret: string, request: SignedRequest, nowSeconds: number): boolean {
  const given = signatureBytes(request.signature)
  if (!given) return false
  if (request.timestamp !== undefined && !isNear(request.timestamp, nowSeconds)) return false
  const prefix = request.timestamp === undefined ? '' : `${request.timestamp}.`
  const keys = [secretKeyOf(secret), Buffer.from(secret, 'utf8')]
  // Both are computed whatever the first says, so that time tells nothing.
  const checkedTokens = keys.map((key) => {
    const expected = createHmac('sha256', key).update(prefix, 'utf8').update(request.body).digest()
    return timingSafeEqual(expected, given)
  })
  return checkedTokens.includes(true)
}

/** @returns undefined for anything that is not 32 bytes in one of the accepted forms */
function signatureBytes(signature: string | undefined): Buffer | undefined {
  if (signature === undefined) return undefined
  const hex = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(signature)?.[1]
  if (hex !== undefined) return Buffer.from(hex, 'hex')
  return /^[A-Za-z0-9+/]{43}=$/.test(signature) ? Buffer.from(signature, 'base64') : undefined
}

function isNear(timestamp: string, nowSeconds: number): boolean {
  return /^[0-9]{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - nowSeconds) <= TOLERANCE_SECONDS
}

/**
 * The token in the address of a system that cannot sign, such as Apache Fineract: hex HMAC-SHA256 of
 * `lms-path:` and the integration's id under the integration's secret, so it can be computed and never stored.
 */
export function pathToken(secret: string, integrationId: string): string {
  return createHmac('sha256', secretKeyOf(secret)).update(`lms-path:${integrationId}`, 'utf8').digest('hex')
}

export function isPathToken(secret: string, integrationId: string, given: string): boolean {
  const expected = Buffer.from(pathToken(secret, integrationId), 'hex')
  const bytes = Buffer.from(given, 'hex')
  return bytes.length === expected.length && timingSafeEqual(expected, bytes)
}
