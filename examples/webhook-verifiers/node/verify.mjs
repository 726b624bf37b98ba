import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

const TOLERANCE_SECONDS = 5 * 60

/**
 * Whether the service signed exactly these bytes a moment ago.
 * @param {string} secret the endpoint's secret, whsec_...
 * @param {{ id: string, timestamp: string, signature: string }} headers webhook-id, -timestamp and -signature
 * @param {Buffer} body as received, before any parsing
 * @param {number} nowSeconds
 */
export function verify(secret, headers, body, nowSeconds = Date.now() / 1000) {
  if (!/^[0-9]{1,12}$/.test(headers.timestamp)) return false
  if (Math.abs(nowSeconds - Number(headers.timestamp)) > TOLERANCE_SECONDS) return false
  const key = keyOf(secret)
  if (key === null) return false
  const expected = createHmac('sha256', key).update(`${headers.id}.${headers.timestamp}.`).update(body).digest()
  // During a rotation of the secret there are several signatures, and one valid signature is enough.
  return headers.signature.split(' ').some((one) => {
    const [version, text = ''] = one.split(',')
    const given = Buffer.from(text, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** Returns null for a missing or damaged secret: Node decodes invalid base64 too, and anyone can sign with an empty key. */
function keyOf(secret) {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : ''
  const key = Buffer.from(text, 'base64')
  return key.length >= 24 && key.toString('base64') === text ? key : null
}

const {
  WEBHOOK_SECRET: secret = '',
  WEBHOOK_ID: id = '',
  WEBHOOK_TIMESTAMP: timestamp = '',
  WEBHOOK_SIGNATURE: signature = '',
} = process.env
// Also runs in a Node version without import.meta.main, where an inactive program would accept every message.
if (import.meta.main !== false) {
  process.exitCode = verify(secret, { id, timestamp, signature }, readFileSync(0)) ? 0 : 1
}
