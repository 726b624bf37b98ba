/** `value` is the normalised form, also of an invalid identifier. */
export type IdentifierResult<Parts, Reason extends string> =
  | { valid: true; value: string; parts: Parts; warnings: readonly string[] }
  | { valid: false; value: string; reason: Reason }

/** Trims and upper-cases ASCII only, so that look-alike letters fail (docs/spec/risk-signals.md#gstin). */
export function normaliseUpper(input: string): string {
  return trimAscii(input).replace(/[a-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 32))
}

/** For hexadecimal values. */
export function normaliseLower(input: string): string {
  return trimAscii(input).replace(/[A-Z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 32))
}

// Slices by index, because a regular expression anchored at the end takes quadratic time for long inner runs of spaces.
function trimAscii(input: string): string {
  let start = 0
  let end = input.length
  while (start < end && isAsciiSpace(input.charCodeAt(start))) start++
  while (end > start && isAsciiSpace(input.charCodeAt(end - 1))) end--
  return input.slice(start, end)
}

function isAsciiSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

/** The text follows the name of the member. */
const PROBLEMS: Readonly<Record<string, string>> = {
  LENGTH: 'does not have the required number of characters',
  FORMAT: 'does not have the required form',
  STATE_CODE: 'has an unknown state code',
  CHECK_CHARACTER: 'has a wrong check character',
  CHECK_DIGITS: 'has wrong check digits',
  LISTING_STATUS: 'must begin with L or U',
  YEAR: 'has a year of incorporation outside 1850 to next year',
  CLASS_CODE: 'has an unknown company class',
}

export function identifierProblem(reason: string): string {
  return PROBLEMS[reason] ?? 'is not valid'
}
