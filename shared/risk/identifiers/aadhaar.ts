/** The group D5 and the permutation of Verhoeff's scheme. */
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

/**
 * Whether a text holds a run of exactly twelve digits that may be an Aadhaar number: first digit 2-9, Verhoeff's check
 * passes. Blanks and hyphens inside the run do not count.
 */
export function holdsAadhaar(text: string): boolean {
  const runs = text.normalize('NFKC').match(/[0-9](?:[\s-]*[0-9])*/g) ?? []
  return runs.some((run) => {
    const digits = run.replace(/[\s-]/g, '')
    return digits.length === 12 && /^[2-9]/.test(digits) && isVerhoeff(digits)
  })
}

function isVerhoeff(digits: string): boolean {
  let check = 0
  for (const [place, digit] of [...digits].toReversed().entries()) {
    check = MULTIPLY[check]?.[PERMUTE[place % 8]?.[Number(digit)] ?? 0] ?? 0
  }
  return check === 0
}
