import { type IdentifierResult, normaliseUpper } from './identifier.ts'

export interface UdyamParts {
  state: string
  district: string
  serial: string
}

/** The registration of a small enterprise, 19 characters with hyphens, no checksum (docs/spec/risk-signals.md#identifiers). */
export function validateUdyam(input: string): IdentifierResult<UdyamParts, 'FORMAT'> {
  const value = normaliseUpper(input)
  const match = /^UDYAM-([A-Z]{2})-([0-9]{2})-([0-9]{7})$/.exec(value)
  if (!match) return { valid: false, value, reason: 'FORMAT' }
  const [, state = '', district = '', serial = ''] = match
  return { valid: true, value, parts: { state, district, serial }, warnings: [] }
}
