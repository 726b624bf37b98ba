/** Multiplication in the group D5 and permutations of Verhoeff's scheme. */
const MULTIPLY = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
  [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
  [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
  [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
  [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
  [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
  [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
  [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
  [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
]
const PERMUTE = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
  [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
  [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
  [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
  [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
  [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
  [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
]

const LENGTH = 12
const SEPARATORS = '[\\s\\p{Pd}\\p{Cf}.\\u2212\\u02d7\\u2043\\u00b7\\u2022\\u2027\\u2219\\u22c5\\u3002\\u30fb\\u06d4]+'
const RUN = new RegExp(`[0-9]+(?:${SEPARATORS}[0-9]+)*`, 'gu')
const SEPARATOR = new RegExp(SEPARATORS, 'u')

/** Joins adjacent groups of digits, in any script, and applies Verhoeff's check. */
export function holdsAadhaar(text: string): boolean {
  const digits = text.normalize('NFKC').replace(/\p{Nd}/gu, digitOf)
  return (digits.match(RUN) ?? []).some((run) => {
    const groups = run.split(SEPARATOR)
    return groups.some((_, from) => isAadhaar(leadingGroups(groups, from)))
  })
}

/** Joins until they have at least the length of a number. */
function leadingGroups(groups: readonly string[], from: number): string {
  let joined = ''
  for (let at = from; at < groups.length && joined.length < LENGTH; at++) joined += groups[at]
  return joined
}

function isAadhaar(digits: string): boolean {
  return digits.length === LENGTH && /^[2-9]/.test(digits) && isVerhoeff(digits)
}

/** The digits of a script are ten consecutive code points (Unicode, section 4.6). */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  let zero = code
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String((code - zero) % 10)
}

function isVerhoeff(digits: string): boolean {
  let check = 0
  for (const [place, digit] of [...digits].toReversed().entries()) {
    check = MULTIPLY[check]?.[PERMUTE[place % 8]?.[Number(digit)] ?? 0] ?? 0
  }
  return check === 0
}
