import { createHmac } from 'node:crypto'

/** The HMAC keys of an endpoint. Both sign until the previous one expires. */
export interface SigningKeys {
  current: Buffer
  previous: Buffer | null
}

export interface MessageToSign {
  /** the event's id: the same for every attempt */
  id: string
  /** Unix seconds of this attempt */
  timestamp: number
  /** exactly as sent */
  body: string
}

/** Lower-case hex HMAC-SHA256 over the exact bytes of the body: the value of `x-signature` (docs/spec/transparency.md#webhook-payload). */
export function bodySignature(key: Buffer, body: string): string {
  return createHmac('sha256', key).update(body, 'utf8').digest('hex')
}

/** Standard Webhooks 1.0.0: `v1,` and base64 of the HMAC-SHA256 over `id.timestamp.body`. */
export function standardSignature(key: Buffer, { id, timestamp, body }: MessageToSign): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`
}

/**
 * Every header that lets the receiver check who sent the body. `x-signature` is made with the current secret;
 * during a rotation `x-signature-previous` has the old one's, and `webhook-signature` lists both.
 */
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
/** Bytes of a new secret; Standard Webhooks allows 24 to 64. */
export const SECRET_BYTES = 32

/** The text that a consumer is shown once: `whsec_` and base64. The HMAC key is what the base64 stands for. */
export function formatSecret(bytes: Uint8Array): string {
  return PREFIX + Buffer.from(bytes).toString('base64')
}

/** The HMAC key of a secret. A secret without the prefix is a key as it stands, in UTF-8. */
export function secretKeyOf(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.from(secret, 'utf8')
}
