import { type IdentifierResult, normaliseUpper } from './identifier.ts'

type PanHolderType =
  | 'COMPANY'
  | 'INDIVIDUAL'
  | 'HUF'
  | 'FIRM_OR_LLP'
  | 'ASSOCIATION'
  | 'TRUST'
  | 'BODY_OF_INDIVIDUALS'
  | 'LOCAL_AUTHORITY'
  | 'ARTIFICIAL_JURIDICAL_PERSON'
  | 'GOVERNMENT'
  | 'OTHER'
  | 'UNKNOWN'

export interface PanParts {
  holderType: PanHolderType
  surnameInitial: string
}

const HOLDER_TYPES: ReadonlyMap<string, PanHolderType> = new Map([
  ['C', 'COMPANY'],
  ['P', 'INDIVIDUAL'],
  ['H', 'HUF'],
  ['F', 'FIRM_OR_LLP'],
  ['A', 'ASSOCIATION'],
  ['T', 'TRUST'],
  ['B', 'BODY_OF_INDIVIDUALS'],
  ['L', 'LOCAL_AUTHORITY'],
  ['J', 'ARTIFICIAL_JURIDICAL_PERSON'],
  ['G', 'GOVERNMENT'],
  ['E', 'OTHER'],
  ['K', 'OTHER'],
])

export function isPanShaped(value: string): boolean {
  return /^[A-Z]{5}[0-9]{4}[A-Z]$/.test(value)
}

/** An unknown holder type is a warning (docs/spec/risk-signals.md#identifiers). */
export function validatePan(input: string): IdentifierResult<PanParts, 'LENGTH' | 'FORMAT'> {
  const value = normaliseUpper(input)
  if (value.length !== 10) return { valid: false, value, reason: 'LENGTH' }
  if (!isPanShaped(value)) return { valid: false, value, reason: 'FORMAT' }
  const holderType = HOLDER_TYPES.get(value.charAt(3)) ?? 'UNKNOWN'
  const warnings = holderType === 'UNKNOWN' ? ['HOLDER_TYPE_UNKNOWN'] : []
  return { valid: true, value, parts: { holderType, surnameInitial: value.charAt(4) }, warnings }
}
