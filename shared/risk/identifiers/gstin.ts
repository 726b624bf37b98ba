import { type IdentifierResult, normaliseUpper } from './identifier.ts'
import { isPanShaped } from './pan.ts'

export interface GstinParts {
  stateCode: string
  pan: string
  entityCode: string
  position14: string
  checkDigit: string
}

/** The first failed check decides, in this order (docs/spec/risk-signals.md#gstin). */
export type GstinReason =
  | 'LENGTH'
  | 'FORMAT'
  | 'STATE_CODE'
  | 'NOT_REGULAR'
  | 'PAN_FORMAT'
  | 'ENTITY_CODE'
  | 'CHECK_DIGIT'

export type GstinClass = 'TDS' | 'TCS' | 'OIDAR' | 'NRTP' | 'UIN'

export interface GstinOptions {
  /** Also accepts 1-9, A, B, E-J at position 14, as the return schemas do; otherwise only Z. */
  anyPosition14?: boolean
  /** Accepts the e-invoice sandbox's own registrations, which violate the rules. Only for env SANDBOX. */
  sandboxRegistrations?: boolean
}

const GSTIN_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

// Test registrations of the e-invoice sandbox found in published documents (docs/spec/risk-signals.md#gstin).
const SANDBOX_REGISTRATIONS: ReadonlySet<string> = new Set(['01AMBPG7773M002', '02AMBPG7773M002', '36AMBPG7773M002'])

/** The check character detects typing errors, not forgery. */
export function validateGstin(input: string, options: GstinOptions = {}): IdentifierResult<GstinParts, GstinReason> {
  const value = normaliseUpper(input)
  const parts = gstinParts(value)
  const allowed = options.sandboxRegistrations === true && SANDBOX_REGISTRATIONS.has(value)
  if (allowed) return { valid: true, value, parts, warnings: ['SANDBOX_REGISTRATION'] }
  const reason = failureOf(value, parts, options)
  if (reason) return { valid: false, value, reason }
  const warnings: string[] = []
  if (Object.hasOwn(gstinLegacyStates, parts.stateCode)) warnings.push('LEGACY_STATE_CODE')
  if (parts.position14 !== 'Z') warnings.push('POSITION_14_NOT_Z')
  return { valid: true, value, parts, warnings }
}

function failureOf(value: string, parts: GstinParts, options: GstinOptions): GstinReason | undefined {
  if (value.length !== 15) return 'LENGTH'
  if (!/^[0-9]{2}[0-9A-Z]{13}$/.test(value)) return 'FORMAT'
  if (!Object.hasOwn(gstinStates, parts.stateCode) && !Object.hasOwn(gstinLegacyStates, parts.stateCode)) {
    return 'STATE_CODE'
  }
  if (gstinClass(value) !== undefined || parts.stateCode === '99') return 'NOT_REGULAR'
  if (!isPanShaped(parts.pan)) return 'PAN_FORMAT'
  if (parts.entityCode === '0') return 'ENTITY_CODE'
  const position14 = options.anyPosition14 ? /^[Z1-9ABE-J]$/ : /^Z$/
  if (!position14.test(parts.position14)) return 'NOT_REGULAR'
  if (gstinCheckCharacter(value.slice(0, 14)) !== parts.checkDigit) return 'CHECK_DIGIT'
  return undefined
}

/** `undefined` for the regular class. */
export function gstinClass(value: string): GstinClass | undefined {
  if (/^99[0-9]{2}[A-Z]{3}[0-9]{5}OS[0-9A-Z]$/.test(value)) return 'OIDAR'
  if (/^[0-9]{4}[A-Z]{3}[0-9]{5}NR[0-9A-Z]$/.test(value)) return 'NRTP'
  if (/^[0-9]{4}[A-Z]{3}[0-9]{5}[UO]N[0-9A-Z]$/.test(value)) return 'UIN'
  if (value[13] === 'C') return 'TCS'
  if (value[13] === 'D') return 'TDS'
  return undefined
}

/** `undefined` when a character is outside 0-9A-Z. */
export function gstinCheckCharacter(first14: string): string | undefined {
  let sum = 0
  for (const [index, character] of [...first14].entries()) {
    const digit = GSTIN_ALPHABET.indexOf(character)
    if (digit < 0) return undefined
    const product = digit * (index % 2 === 0 ? 1 : 2)
    sum += Math.floor(product / 36) + (product % 36)
  }
  return GSTIN_ALPHABET[(36 - (sum % 36)) % 36]
}

export function panOfGstin(gstin: string): string {
  return gstin.slice(2, 12)
}

function gstinParts(value: string): GstinParts {
  return {
    stateCode: value.slice(0, 2),
    pan: value.slice(2, 12),
    entityCode: value.slice(12, 13),
    position14: value.slice(13, 14),
    checkDigit: value.slice(14, 15),
  }
}

/** State codes of a GSTIN; 99 occurs only in special classes (docs/spec/risk-signals.md#gstin). */
export const gstinStates: Readonly<Record<string, string>> = {
  '01': 'Jammu and Kashmir',
  '02': 'Himachal Pradesh',
  '03': 'Punjab',
  '04': 'Chandigarh',
  '05': 'Uttarakhand',
  '06': 'Haryana',
  '07': 'Delhi',
  '08': 'Rajasthan',
  '09': 'Uttar Pradesh',
  '10': 'Bihar',
  '11': 'Sikkim',
  '12': 'Arunachal Pradesh',
  '13': 'Nagaland',
  '14': 'Manipur',
  '15': 'Mizoram',
  '16': 'Tripura',
  '17': 'Meghalaya',
  '18': 'Assam',
  '19': 'West Bengal',
  '20': 'Jharkhand',
  '21': 'Odisha',
  '22': 'Chhattisgarh',
  '23': 'Madhya Pradesh',
  '24': 'Gujarat',
  '26': 'Dadra and Nagar Haveli and Daman and Diu',
  '27': 'Maharashtra',
  '29': 'Karnataka',
  '30': 'Goa',
  '31': 'Lakshadweep',
  '32': 'Kerala',
  '33': 'Tamil Nadu',
  '34': 'Puducherry',
  '35': 'Andaman and Nicobar Islands',
  '36': 'Telangana',
  '37': 'Andhra Pradesh',
  '38': 'Ladakh',
  '97': 'Other Territory',
  '99': 'Centre jurisdiction (special classes only)',
}

/** States that were merged or split since: registrations are still in use, with a warning. */
export const gstinLegacyStates: Readonly<Record<string, string>> = {
  '25': 'Daman and Diu (until 2020)',
  '28': 'Andhra Pradesh (before bifurcation)',
}
