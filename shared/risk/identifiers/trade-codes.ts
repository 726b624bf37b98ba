import { type IdentifierResult, normaliseUpper } from './identifier.ts'
import { isPanShaped } from './pan.ts'

type NoParts = Record<never, never>

/** A PAN, before 2018 ten digits (docs/spec/risk-signals.md#identifiers). */
export function validateIec(input: string): IdentifierResult<NoParts, 'LENGTH' | 'FORMAT'> {
  const value = normaliseUpper(input)
  if (value.length !== 10) return { valid: false, value, reason: 'LENGTH' }
  if (!isPanShaped(value) && !/^[0-9]{10}$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}

export function validateIfsc(input: string): IdentifierResult<NoParts, 'LENGTH' | 'FORMAT'> {
  const value = normaliseUpper(input)
  if (value.length !== 11) return { valid: false, value, reason: 'LENGTH' }
  if (!/^[A-Z]{4}0[0-9A-Z]{6}$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}

/** Twelve digits by observation. */
export function validateSecurityInterestId(input: string): IdentifierResult<NoParts, 'FORMAT'> {
  return opaque(input, /^[0-9]{12}$/)
}

/** 8-30 letters and digits; only a registry can confirm it. */
export function validateEbrcNumber(input: string): IdentifierResult<NoParts, 'FORMAT'> {
  return opaque(input, /^[0-9A-Z]{8,30}$/)
}

function opaque(input: string, shape: RegExp): IdentifierResult<NoParts, 'FORMAT'> {
  const value = normaliseUpper(input)
  if (!shape.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}
