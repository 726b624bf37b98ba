import { createHmac } from 'node:crypto'
import { normaliseUpper } from './identifier.ts'
import { mod3736CheckCharacter } from './lei.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
/** Characters before the check character: 125 bits. */
const LENGTH = 25

/** A leak scanner would detect such text as a PAN, also inside a GSTIN. */
const PAN_SHAPED = /[A-Z]{5}[0-9]{4}[A-Z]/

/** 25 base32 characters of an HMAC and a check character. Varies the input while it looks like a PAN. */
export function veiOf(key: Uint8Array, identifier: string): string {
  for (let round = 0; ; round++) {
    const input = `VEI1|${identifier}${round === 0 ? '' : `|${round}`}`
    const body = base32(createHmac('sha256', key).update(input, 'utf8').digest())
    const vei = body + mod3736CheckCharacter(body)
    if (!PAN_SHAPED.test(vei)) return vei
  }
}

/** Returns null when form and check character are right. */
export function veiError(input: string): 'LENGTH' | 'FORMAT' | 'CHECK_CHARACTER' | null {
  const value = normaliseUpper(input)
  if (value.length !== LENGTH + 1) return 'LENGTH'
  if (!/^[A-Z2-7]{25}[0-9A-Z]$/.test(value)) return 'FORMAT'
  return mod3736CheckCharacter(value.slice(0, LENGTH)) === value.slice(LENGTH) ? null : 'CHECK_CHARACTER'
}

function base32(bytes: Uint8Array): string {
  let bits = 0n
  for (const byte of bytes.subarray(0, 16)) bits = (bits << 8n) | BigInt(byte)
  bits >>= 3n
  let text = ''
  for (let at = 0; at < LENGTH; at++) {
    text = BASE32.charAt(Number(bits & 31n)) + text
    bits >>= 5n
  }
  return text
}
