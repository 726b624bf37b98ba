import { randomInt } from 'node:crypto'

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
