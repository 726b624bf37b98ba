/** What a key may do: read and write, read only, or ping by slug. */
export type KeyKind = 'rw' | 'ro' | 'ping'

/** What people call the kinds. */
export const keyKindNames: Readonly<Record<KeyKind, string>> = { rw: 'Read and write', ro: 'Read only', ping: 'Ping' }

/** Every key of the management API has this length; anything else is no key at all (docs/spec/monitoring.md#authentication). */
export const API_KEY_LENGTH = 32

const SCHEMES = { rw: 'hcw_', ro: 'hcr_', ping: '' } as const satisfies Record<KeyKind, string>
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const PING_KEY_LENGTH = 22

/** Characters that are stored readable beside the digest, so that people can tell keys apart. */
const PREFIX_LENGTH = 8

/**
 * A new key: `hcw_` or `hcr_` and 28 letters and digits, 166 bits; a ping key is 22 of `a-z 0-9`, 113 bits, since it is
 * part of URLs that people copy.
 * @param random as many random bytes as asked for
 */
export function generateKey(kind: KeyKind, random: (size: number) => Uint8Array): string {
  if (kind === 'ping') return randomText(PING_KEY_LENGTH, LETTERS.slice(26) + DIGITS, random)
  const scheme = SCHEMES[kind]
  return scheme + randomText(API_KEY_LENGTH - scheme.length, LETTERS + DIGITS, random)
}

/** The part of a key that is no secret. */
export function keyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH)
}

/** Each character equally likely: bytes beyond the last full round of the alphabet are thrown away. */
function randomText(length: number, alphabet: string, random: (size: number) => Uint8Array): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random(length * 2)) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length)
    }
  }
  return text
}
