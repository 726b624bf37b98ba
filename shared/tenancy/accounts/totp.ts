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
