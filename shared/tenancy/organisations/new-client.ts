import { hash } from 'node:crypto'

export type RandomBytes = (size: number) => Buffer

/** Only a digest is stored, and a prefix by which people recognise the secret. */
export interface NewSecret {
  text: string
  prefix: string
  digest: Buffer
}

/** 256 random bits, stored as SHA-256 (docs/spec/risk-signals.md#oauth-tokens). */
export function newClientSecret(random: RandomBytes): NewSecret {
  const text = `sk_${random(32).toString('base64url')}`
  return { text, prefix: text.slice(0, 7), digest: hash('sha256', text, 'buffer') }
}

export function newClientId(random: RandomBytes): string {
  return `client_${random(12).toString('hex')}`
}

export function newConsumerKey(random: RandomBytes): string {
  return `ak_${random(32).toString('base64url')}`
}

/** `whsec_` and base64 of the 32-byte HMAC key. */
export function newLmsSecret(random: RandomBytes): string {
  return `whsec_${random(32).toString('base64')}`
}
