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
