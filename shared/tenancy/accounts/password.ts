import { hash, verify } from '@node-rs/argon2'
import { isCommonPassword } from './common-passwords.ts'

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const MIN_PASSWORD_LENGTH = 12
const MAX_PASSWORD_LENGTH = 200

/** What is wrong with a new password, as a sentence; null when nothing is. Length and rarity count (NIST SP 800-63B). */
export function passwordProblem(password: string, email: string): string | null {
  const length = [...password].length
  if (length < MIN_PASSWORD_LENGTH) return `The password needs at least ${MIN_PASSWORD_LENGTH} characters.`
  if (length > MAX_PASSWORD_LENGTH) return `The password may have at most ${MAX_PASSWORD_LENGTH} characters.`
  if (password.toLowerCase() === email || new Set(password).size < 4) return 'The password is too easy to guess.'
  if (isCommonPassword(password)) return 'This password, or its parts, are among those that are tried first.'
  return null
}

/** @returns the argon2id hash in PHC form, with its salt and costs */
export async function hashPassword(password: string): Promise<string> {
  return await hash(password.normalize('NFC'), COST)
}

/** Takes as long for an account that does not exist or has no password, so that the time tells nothing. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const isRight = await verify(
    stored ?? (await unmatchable()),
    password.normalize('NFC').slice(0, MAX_PASSWORD_LENGTH * 2),
  )
  return stored !== null && isRight
}

let decoy: Promise<string> | undefined

function unmatchable(): Promise<string> {
  decoy ??= hashPassword('nobody has this password')
  return decoy
}
