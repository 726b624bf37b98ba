import { type IdentifierResult, normaliseUpper } from './identifier.ts'

/** `YYYY-YY`; `date` is in Indian time. */
export function financialYear(date: string): string {
  const year = Number(date.slice(0, 4))
  const start = Number(date.slice(5, 7)) >= 4 ? year : year - 1
  return `${start}-${String((start + 1) % 100).padStart(2, '0')}`
}

export interface UdyamParts {
  state: string
  district: string
  serial: string
}

/** Has no checksum (docs/spec/risk-signals.md#identifiers). */
export function validateUdyam(input: string): IdentifierResult<UdyamParts, 'FORMAT'> {
  const value = normaliseUpper(input)
  const match = /^UDYAM-([A-Z]{2})-([0-9]{2})-([0-9]{7})$/.exec(value)
  if (!match) return { valid: false, value, reason: 'FORMAT' }
  const [, state = '', district = '', serial = ''] = match
  return { valid: true, value, parts: { state, district, serial }, warnings: [] }
}
