import { hash } from 'node:crypto'

/** `size` random bytes. */
export type RandomBytes = (size: number) => Buffer

/** A secret that is shown once; stored are its digest and a prefix by which people tell it from others. */
export interface NewSecret {
  text: string
  prefix: string
  digest: Buffer
}

/** An OAuth client secret: 256 random bits, stored as SHA-256 (docs/spec/risk-signals.md#oauth-tokens). */
export function newClientSecret(random: RandomBytes): NewSecret {
  const text = `sk_${random(32).toString('base64url')}`
  return { text, prefix: text.slice(0, 7), digest: hash('sha256', text, 'buffer') }
}

export function newClientId(random: RandomBytes): string {
  return `client_${random(12).toString('hex')}`
}

/** An `x-api-key`; the caller digests it. */
export function newConsumerKey(random: RandomBytes): string {
  return `ak_${random(32).toString('base64url')}`
}

/** The secret that signs inbound LMS events: `whsec_` and base64 of 32 bytes, which are the HMAC key. */
export function newLmsSecret(random: RandomBytes): string {
  return `whsec_${random(32).toString('base64')}`
}
