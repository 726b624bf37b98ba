const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/
const HEX_HASH = /^[0-9a-f]{64}$/

export const HASH_BYTES = 32

/** Canonical padded base64 (RFC 4648 section 4); undefined for anything else. */
export function parseBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

/** Canonical base64; undefined for anything else. */
export function parseBase64Hash(text: string): Uint8Array | undefined {
  if (text.length !== 44) return undefined
  const bytes = parseBase64(text)
  return bytes?.length === HASH_BYTES ? bytes : undefined
}

/** Lower-case hex; undefined for anything else. */
export function parseHexHash(text: string): Uint8Array | undefined {
  return HEX_HASH.test(text) ? Buffer.from(text, 'hex') : undefined
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** ASCII without leading zeros, at most 2^53-1; undefined for anything else. */
export function parseDecimal(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}
