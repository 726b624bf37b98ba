import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { type Micros, toMillis } from '../../time.ts'

/** Accepted half minutes before and after now, because clocks of phones differ (RFC 6238, 5.2). */
const WINDOW = 1

/** 160 random bits (RFC 4226, R6) in base 32. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

/** For the QR code of authenticator apps; `issuer` is our name in the app. */
export function totpAddress(secret: string, issuer: string, email: string): string {
  return new TOTP({ secret, issuer, label: email }).toString()
}

/** Returns null for a wrong code. The caller accepts each half minute once. */
export function totpStep(secret: string, code: string, now: Micros): number | null {
  const token = code.replaceAll(' ', '')
  if (!/^\d{6}$/.test(token)) return null
  const timestamp = toMillis(now)
  const delta = TOTP.validate({ token, secret: Secret.fromBase32(secret), timestamp, window: WINDOW })
  return delta === null ? null : TOTP.counter({ timestamp }) + delta
}

const COUNT = 10
/** Without characters that look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** Ten codes of 49 random bits each, for example `k7w2m-p9xfa`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => `${letters(5)}-${letters(5)}`)
}

/** The displayed form of a typed code; null if malformed. */
export function normalRecoveryCode(typed: string): string | null {
  const bare = typed.toLowerCase().replace(/[\s-]/g, '')
  return bare.length === 10 && [...bare].every((letter) => LETTERS.includes(letter))
    ? `${bare.slice(0, 5)}-${bare.slice(5)}`
    : null
}

export function recoveryCodeText(userId: number, code: string): string {
  return `recovery-code:${userId}:${code}`
}

function letters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
