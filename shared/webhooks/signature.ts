import { createHmac } from 'node:crypto'

/** Both keys sign until the previous one expires. */
export interface SigningKeys {
  current: Buffer
  previous: Buffer | null
}

export interface MessageToSign {
  /** the event's id, equal for each attempt */
  id: string
  timestamp: number
  body: string
}

/** Hex HMAC-SHA256 of the body (docs/spec/transparency.md#webhook-payload). */
export function bodySignature(key: Buffer, body: string): string {
  return createHmac('sha256', key).update(body, 'utf8').digest('hex')
}

/** `v1,` and base64 of the HMAC-SHA256 over `id.timestamp.body` (Standard Webhooks 1.0.0). */
export function standardSignature(key: Buffer, { id, timestamp, body }: MessageToSign): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`
}

export function signatureHeaders(keys: SigningKeys, message: MessageToSign): Record<string, string> {
  const both = keys.previous ? [keys.current, keys.previous] : [keys.current]
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': both.map((key) => standardSignature(key, message)).join(' '),
    'x-signature': bodySignature(keys.current, message.body),
    ...(keys.previous && { 'x-signature-previous': bodySignature(keys.previous, message.body) }),
  }
}

const PREFIX = 'whsec_'
/** Standard Webhooks allows 24 to 64. */
export const SECRET_BYTES = 32

/** `whsec_` and base64; the HMAC key is the decoded base64. */
export function formatSecret(bytes: Uint8Array): string {
  return PREFIX + Buffer.from(bytes).toString('base64')
}

/** A secret without the prefix is itself the key, in UTF-8. */
export function secretKeyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8')
}
