import { type IdentifierResult, normaliseUpper } from './identifier.ts'

export interface CinParts {
  listing: 'L' | 'U'
  industry: string
  state: string
  year: number
  classCode: string
  registration: string
}

export type CinReason = 'LENGTH' | 'LISTING_STATUS' | 'FORMAT' | 'STATE_CODE' | 'YEAR' | 'CLASS_CODE'

// The first Indian companies act is of 1850, so no registration is older.
const FIRST_YEAR = 1850

/** A company number may change over time (docs/spec/risk-signals.md#identifiers). */
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

/** `AAA-9999` */
export function validateLlpin(input: string): IdentifierResult<Record<never, never>, 'FORMAT'> {
  const value = normaliseUpper(input)
  if (!/^[A-Z]{3}-[0-9]{4}$/.test(value)) return { valid: false, value, reason: 'FORMAT' }
  return { valid: true, value, parts: {}, warnings: [] }
}

/** Old and new letters of a state are both in use. */
const CIN_STATES_BY_SOURCE = {
  // Found in published company numbers. TZ is the registrar in Coimbatore; DN and DD are territories merged in 2020.
  published:
    'AN AP AR AS BR CH CT DD DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OR PB PY RJ SK TG TN TR TZ UP UR UT WB',
  // Found in company numbers since about 2022: Telangana, Odisha, Chhattisgarh. Also ISO 3166-2:IN since 2023.
  since2022: 'TS OD CG',
  // ISO 3166-2:IN, newsletters of 2020 and 2023: Uttarakhand; Dadra and Nagar Haveli and Daman and Diu. Numbers of 2024
  // in Uttarakhand still have UT. Both are accepted, because only the registrar knows if it has adopted them.
  iso3166: 'UK DH',
}

const cinStates: ReadonlySet<string> = new Set(Object.values(CIN_STATES_BY_SOURCE).flatMap((codes) => codes.split(' ')))

const CIN_CLASSES: Readonly<Record<string, string>> = {
  FLC: 'financial lease company, public',
  FTC: 'subsidiary of a foreign company, private',
  GAP: 'general association, public',
  GAT: 'general association, private',
  GOI: 'company of the Government of India',
  NPL: 'company not for profit, section 8',
  OPC: 'one person company',
  PLC: 'public limited company',
  PTC: 'private limited company, producer companies included',
  SGC: 'company of a state government',
  ULL: 'unlimited company, public',
  ULT: 'unlimited company, private',
}

const cinClasses: ReadonlySet<string> = new Set(Object.keys(CIN_CLASSES))
