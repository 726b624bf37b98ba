export type KeyKind = 'rw' | 'ro' | 'ping'

export const keyKindNames: Readonly<Record<KeyKind, string>> = { rw: 'Read and write', ro: 'Read only', ping: 'Ping' }

/** Length of every key of the management API (docs/spec/monitoring.md#authentication). */
export const API_KEY_LENGTH = 32

const SCHEMES = { rw: 'hcw_', ro: 'hcr_', ping: '' } as const satisfies Record<KeyKind, string>
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const PING_KEY_LENGTH = 22

/** Stored in plain text, so that people can distinguish keys. */
const PREFIX_LENGTH = 8

/**
 * `hcw_` or `hcr_` and 28 letters and digits (166 bits). A ping key is 22 characters of `a-z 0-9` (113 bits), because
 * it is part of URLs that people copy.
 */
export function generateKey(kind: KeyKind, random: (size: number) => Uint8Array): string {
  if (kind === 'ping') return randomText(PING_KEY_LENGTH, LETTERS.slice(26) + DIGITS, random)
  const scheme = SCHEMES[kind]
  return scheme + randomText(API_KEY_LENGTH - scheme.length, LETTERS + DIGITS, random)
}

export function keyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH)
}

/** Discards bytes beyond the last multiple of the alphabet's length, so that all characters are equally likely. */
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
