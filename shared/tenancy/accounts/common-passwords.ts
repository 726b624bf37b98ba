import { createRequire } from 'node:module'

/** Some fifty thousand passwords that people chose most often, in small letters; read when the first is looked at. */
let loaded: ReadonlySet<string> | undefined

function commonPasswords(): ReadonlySet<string> {
  if (loaded) return loaded
  const list: typeof import('@zxcvbn-ts/language-common') = createRequire(import.meta.url)('@zxcvbn-ts/language-common')
  loaded = new Set(list.dictionary['passwords-common'])
  return loaded
}

/**
 * Whether a password is one that is tried first: a common one, also with digits at its end, several times in a row, or
 * two of them in a row.
 */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase()
  const plain = lower.replace(/[^\p{L}\p{N}]/gu, '')
  const bare = plain.replace(/\d+$/, '')
  return (
    [lower, plain, bare].some((text) => commonPasswords().has(text) || isRepeated(text)) || isTwo(plain) || isTwo(bare)
  )
}

/** `passwordpassword`, `abcabcabcabc` */
function isRepeated(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length++) {
    if (text.length % length !== 0) continue
    const unit = text.slice(0, length)
    if (unit.repeat(text.length / length) === text && (length <= 4 || commonPasswords().has(unit))) return true
  }
  return false
}

/** Parts shorter than this are in everything. */
const MIN_PART = 5

function isTwo(text: string): boolean {
  for (let at = MIN_PART; at <= text.length - MIN_PART; at++) {
    if (commonPasswords().has(text.slice(0, at)) && commonPasswords().has(text.slice(at))) return true
  }
  return false
}
