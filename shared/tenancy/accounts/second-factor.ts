import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { type Micros, toMillis } from '../../time.ts'

/** Half minutes before and after now whose codes are taken: clocks of phones differ (RFC 6238, 5.2). */
const WINDOW = 1

/** @returns 160 random bits (RFC 4226, R6) in base 32, as authenticator apps are told them */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** The address behind the QR code that authenticator apps read. @param issuer what the app calls us */
export function totpAddress(secret: string, issuer: string, email: string): string {
  return new TOTP({ secret, issuer, label: email }).toString()
}

/**
 * Which half minute a code is of.
 * @param code six digits, with or without spaces
 * @returns half minutes since 1970; null when the code is none of about now. The caller takes each of them once
 */
export function totpStep(secret: string, code: string, now: Micros): number | null {
  const token = code.replaceAll(' ', '')
  if (!/^\d{6}$/.test(token)) return null
  const timestamp = toMillis(now)
  const delta = TOTP.validate({ token, secret: Secret.fromBase32(secret), timestamp, window: WINDOW })
  return delta === null ? null : TOTP.counter({ timestamp }) + delta
}

const COUNT = 10
/** Nothing in it looks like something else. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** @returns ten codes of 49 random bits each, such as `k7w2m-p9xfa` */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => `${letters(5)}-${letters(5)}`)
}

/** A code as it was shown, however it was typed. @returns null for what can be none */
export function normalRecoveryCode(typed: string): string | null {
  const bare = typed.toLowerCase().replace(/[\s-]/g, '')
  return bare.length === 10 && [...bare].every((letter) => LETTERS.includes(letter))
    ? `${bare.slice(0, 5)}-${bare.slice(5)}`
    : null
}

/** What the digest of a code is of: the same code of somebody else is another one. */
export function recoveryCodeText(userId: number, code: string): string {
  return `recovery-code:${userId}:${code}`
}

function letters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
