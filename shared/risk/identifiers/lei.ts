import { type IdentifierResult, normaliseUpper } from './identifier.ts'

export interface LeiParts {
  issuerPrefix: string
  entity: string
  checkDigits: string
}

/** Validates an LEI (ISO 17442, ISO 7064 mod 97-10); about one wrong edit in 97 still passes. */
export function validateLei(input: string): IdentifierResult<LeiParts, 'LENGTH' | 'FORMAT' | 'CHECK_DIGITS'> {
  const value = normaliseUpper(input)
  if (value.length !== 20) return { valid: false, value, reason: 'LENGTH' }
  if (!/^[0-9A-Z]{18}[0-9]{2}$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  const checkDigits = value.slice(18)
  // 98 minus a remainder of 0..96 gives 02..98; the other values pass the arithmetic but are never issued.
  const issuable = checkDigits !== '00' && checkDigits !== '01' && checkDigits !== '99'
  if (!issuable || mod97(value) !== 1n) return { valid: false, value, reason: 'CHECK_DIGITS' }
  const parts = { issuerPrefix: value.slice(0, 4), entity: value.slice(4, 18), checkDigits }
  return { valid: true, value, parts, warnings: [] }
}

/** The 18 characters must be 0-9A-Z. */
export function leiCheckDigits(first18: string): string {
  return String(98n - mod97(`${first18}00`)).padStart(2, '0')
}

function mod97(value: string): bigint {
  return BigInt(value.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))) % 97n
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** ISO 7064 MOD 37,36 detects every single change. */
export function mod3736CheckCharacter(text: string): string {
  let product = 36
  for (const character of text) {
    const sum = (product + ALPHABET.indexOf(character)) % 36 || 36
    product = (sum * 2) % 37
  }
  return ALPHABET.charAt((37 - product) % 36)
}
