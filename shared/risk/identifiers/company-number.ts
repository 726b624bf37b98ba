import { cinClasses, cinStates } from './company-codes.ts'
import { type IdentifierResult, normaliseUpper } from './identifier.ts'

export interface CinParts {
  listing: 'L' | 'U'
  /** Five digits of the industrial classification, as written. */
  industry: string
  state: string
  year: number
  classCode: string
  registration: string
}

export type CinReason = 'LENGTH' | 'LISTING_STATUS' | 'FORMAT' | 'STATE_CODE' | 'YEAR' | 'CLASS_CODE'

// The first Indian companies act is of 1850: no registration is older.
const FIRST_YEAR = 1850

/**
 * A company number (docs/spec/risk-signals.md#identifiers). It has no checksum, and changes with a listing or a move of the registered office,
 * so it identifies a company only at an instant.
 */
export function validateCin(
  input: string,
  { currentYear }: { currentYear: number },
): IdentifierResult<CinParts, CinReason> {
  const value = normaliseUpper(input)
  const listing = value.charAt(0)
  if (value.length !== 21) return { valid: false, value, reason: 'LENGTH' }
  if (listing !== 'L' && listing !== 'U') return { valid: false, value, reason: 'LISTING_STATUS' }
  const match = /^.([0-9]{5})([A-Z]{2})([0-9]{4})([A-Z]{3})([0-9]{6})$/.exec(value)
  const [, industry = '', state = '', yearText = '', classCode = '', registration = ''] = match ?? []
  if (!match) return { valid: false, value, reason: 'FORMAT' }
  const year = Number(yearText)
  if (!cinStates.has(state)) return { valid: false, value, reason: 'STATE_CODE' }
  if (year < FIRST_YEAR || year > currentYear) return { valid: false, value, reason: 'YEAR' }
  if (!cinClasses.has(classCode)) return { valid: false, value, reason: 'CLASS_CODE' }
  return { valid: true, value, parts: { listing, industry, state, year, classCode, registration }, warnings: [] }
}

/** The number of a limited liability partnership, `AAA-9999`. */
export function validateLlpin(input: string): IdentifierResult<Record<never, never>, 'FORMAT'> {
  const value = normaliseUpper(input)
  if (!/^[A-Z]{3}-[0-9]{4}$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}
