import { type Paise, toInr } from '../money.ts'

type CapacityRating = 'ADEQUATE' | 'STRETCHED' | 'CONSTRAINED' | 'UNKNOWN'
export type CapacitySubject = 'BORROWER' | 'SUBCONTRACTOR'

export interface CapacityInput {
  subject: CapacitySubject
  orderPaise: Paise
  /** null without a registry response */
  turnoverPaise: Paise | null
  activeEmployeeCount: number | null
  hasOtherRegistrations: boolean
  /** the registration is younger than twelve months */
  isNewRegistration: boolean
}

export interface Capacity {
  subject: CapacitySubject
  activeEmployeeCount: number | null
  annualTurnoverInr: number | null
  orderValueInr: number
  capacityRating: CapacityRating
  /** `CODE: sentence`, harmless explanations of a rating below ADEQUATE or of a missing input */
  innocentExplanations: string[]
}

// Provident-fund coverage is compulsory from this number of employees, so smaller payrolls are often not on record.
const PF_THRESHOLD = 20
// One crore rupees of turnover per head, in paise.
const LOW_LABOUR_PAISE = 1_000_000_000n

const SENTENCES = {
  ORDER_LARGE_FOR_TURNOVER:
    'the order is large beside twelve months of turnover, as a first large order or a season can be',
  BELOW_PF_THRESHOLD: 'fewer than 20 members are on record, and provident-fund coverage is not compulsory below 20',
  LOW_LABOUR_MODEL: 'turnover per head is above 1 crore, as in trading, contract labour or automated work',
  HEADCOUNT_NOT_AVAILABLE: 'no provident-fund record answered, so the rating rests on turnover alone',
  TURNOVER_MISSING: 'no turnover could be read from filed returns',
  TURNOVER_ZERO: 'the filed returns report no outward supplies',
  GROUP_CAPACITY: 'another registration of the same legal entity may carry part of the turnover',
  NEW_REGISTRATION: 'the registration is younger than twelve months, so a full year is not on record',
} as const

type ExplanationCode = keyof typeof SENTENCES

/** The worse of both loads decides (docs/spec/risk-signals.md#capacity). */
export function capacity(input: CapacityInput): Capacity {
  const { subject, orderPaise, turnoverPaise, activeEmployeeCount } = input
  const codes = turnoverPaise ? ratedCodes(input, turnoverPaise) : unratedCodes(input)
  return {
    subject,
    activeEmployeeCount,
    annualTurnoverInr: turnoverPaise === null ? null : toInr(turnoverPaise),
    orderValueInr: toInr(orderPaise),
    capacityRating: turnoverPaise ? ratingOf(input, turnoverPaise) : 'UNKNOWN',
    innocentExplanations: codes.map((code) => `${code}: ${SENTENCES[code]}`),
  }
}

function ratingOf(input: CapacityInput, turnoverPaise: Paise): CapacityRating {
  const loads = [turnoverLoad(input.orderPaise, turnoverPaise), headcountLoad(input)]
  if (loads.includes('CONSTRAINED')) return 'CONSTRAINED'
  return loads.includes('STRETCHED') ? 'STRETCHED' : 'ADEQUATE'
}

function turnoverLoad(orderPaise: Paise, turnoverPaise: Paise): CapacityRating {
  const order = BigInt(orderPaise) * 100n
  const turnover = BigInt(turnoverPaise)
  if (order <= 25n * turnover) return 'ADEQUATE'
  return order <= 60n * turnover ? 'STRETCHED' : 'CONSTRAINED'
}

function headcountLoad({ orderPaise, activeEmployeeCount }: CapacityInput): CapacityRating {
  if (activeEmployeeCount === null) return 'ADEQUATE'
  const heads = BigInt(Math.max(activeEmployeeCount, 1))
  const order = BigInt(orderPaise)
  if (order <= 250_000_000n * heads) return 'ADEQUATE'
  const isSmall = activeEmployeeCount < PF_THRESHOLD
  return order <= 750_000_000n * heads || isSmall ? 'STRETCHED' : 'CONSTRAINED'
}

function ratedCodes(input: CapacityInput, turnoverPaise: Paise): ExplanationCode[] {
  const codes: ExplanationCode[] = []
  if (turnoverLoad(input.orderPaise, turnoverPaise) !== 'ADEQUATE') codes.push('ORDER_LARGE_FOR_TURNOVER')
  const { activeEmployeeCount } = input
  if (activeEmployeeCount === null) codes.push('HEADCOUNT_NOT_AVAILABLE')
  else if (headcountLoad(input) !== 'ADEQUATE') {
    if (activeEmployeeCount < PF_THRESHOLD) codes.push('BELOW_PF_THRESHOLD')
    const heads = BigInt(Math.max(activeEmployeeCount, 1))
    if (BigInt(turnoverPaise) > LOW_LABOUR_PAISE * heads) codes.push('LOW_LABOUR_MODEL')
  }
  return ratingOf(input, turnoverPaise) === 'ADEQUATE' ? codes : [...codes, ...circumstances(input)]
}

function unratedCodes(input: CapacityInput): ExplanationCode[] {
  const codes: ExplanationCode[] = [input.turnoverPaise === null ? 'TURNOVER_MISSING' : 'TURNOVER_ZERO']
  if (input.activeEmployeeCount === null) codes.push('HEADCOUNT_NOT_AVAILABLE')
  return [...codes, ...circumstances(input)]
}

function circumstances(input: CapacityInput): ExplanationCode[] {
  const codes: ExplanationCode[] = []
  if (input.hasOtherRegistrations) codes.push('GROUP_CAPACITY')
  if (input.isNewRegistration) codes.push('NEW_REGISTRATION')
  return codes
}
