import { createRequire } from 'node:module'
import { hash, verify } from '@node-rs/argon2'

/** First recommendation of OWASP for argon2id: 19 MiB, two passes, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const MIN_PASSWORD_LENGTH = 12
const MAX_PASSWORD_LENGTH = 200

/** Words of the subject, beside the names of the site and of the person; docs/security.md lists them. */
const CONTEXT_WORDS = ['signalbox', 'heartbeat', 'healthcheck', 'monitoring', 'risksignals', 'password', 'welcome']
/** Letters that a password needs beside these words. */
const MIN_OTHER_LETTERS = 6

/** A sentence, or null. Checks length and rarity (NIST SP 800-63B). */
export function passwordProblem(
  password: string,
  { email, siteName }: { email: string; siteName: string },
): string | null {
  const length = [...password].length
  if (length < MIN_PASSWORD_LENGTH) return `The password needs at least ${MIN_PASSWORD_LENGTH} characters.`
  if (length > MAX_PASSWORD_LENGTH) return `The password may have at most ${MAX_PASSWORD_LENGTH} characters.`
  if (password.toLowerCase() === email || new Set(password).size < 4) return 'The password is too easy to guess.'
  if (isCommonPassword(password))
    return 'This password, or a part of it, is on a list of common passwords. Choose another one.'
  if (isMadeOfNames(password, [siteName, ...email.split(/[@.]/)]))
    return 'This password consists mainly of names that are easy to guess. Add other words.'
  return null
}

/** Argon2id in PHC form, with salt and costs. */
export async function hashPassword(password: string): Promise<string> {
  return await hash(password.normalize('NFC'), COST)
}

/** Takes the same time for an account that does not exist or has no password, so that the time reveals nothing. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const isRight = await verify(
    stored ?? (await unmatchable()),
    password.normalize('NFC').slice(0, MAX_PASSWORD_LENGTH * 2),
  )
  return stored !== null && isRight
}

let decoy: Promise<string> | undefined

function unmatchable(): Promise<string> {
  decoy ??= hashPassword('no user has this password')
  return decoy
}

/** About 50,000 in lower case, loaded at the first use. */
let loaded: ReadonlySet<string> | undefined

function commonPasswords(): ReadonlySet<string> {
  if (loaded) return loaded
  const list: typeof import('@zxcvbn-ts/language-common') = createRequire(import.meta.url)('@zxcvbn-ts/language-common')
  loaded = new Set(list.dictionary['passwords-common'])
  return loaded
}

/** Also detects digits at its end, repetition, and two joined passwords. */
function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase()
  const plain = lower.replace(/[^\p{L}\p{N}]/gu, '')
  const bare = plain.replace(/\d+$/, '')
  return (
    [lower, plain, bare].some((text) => commonPasswords().has(text) || isRepeated(text)) || isTwo(plain) || isTwo(bare)
  )
}

function isMadeOfNames(password: string, names: readonly string[]): boolean {
  const letters = (text: string) => text.toLowerCase().replace(/[^\p{L}]/gu, '')
  const words = [...CONTEXT_WORDS, ...names.map(letters)].filter(({ length }) => length >= 4)
  const rest = words.reduce((text, word) => text.replaceAll(word, ''), letters(password))
  return rest !== letters(password) && rest.length < MIN_OTHER_LETTERS
}

function isRepeated(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length++) {
    if (text.length % length !== 0) continue
    const unit = text.slice(0, length)
    if (unit.repeat(text.length / length) === text && (length <= 4 || commonPasswords().has(unit))) return true
  }
  return false
}

const MIN_PART = 5

function isTwo(text: string): boolean {
  for (let at = MIN_PART; at <= text.length - MIN_PART; at++) {
    if (commonPasswords().has(text.slice(0, at)) && commonPasswords().has(text.slice(at))) return true
  }
  return false
}
