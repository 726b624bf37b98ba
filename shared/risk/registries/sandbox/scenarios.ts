import type { AcceptanceAction } from '../../acceptance/acceptance.ts'
import { type DisclosedMatch, disclosed } from '../../first-financing/check-answer.ts'
import type { ReceivableFields } from '../../first-financing/receivable.ts'
import { gstinCheckCharacter, panOfGstin } from '../../identifiers/gstin.ts'
import type { PackRequest } from '../../packs/request.ts'
import type { RegistryFindings, RegistryMatch } from '../../packs/signals/double-financing.ts'

/** Scenarios by the last two digits of a party's PAN (docs/spec/risk-signals.md#registry-results). */
export type Scenario =
  | 'DECLINING'
  | 'TOO_FEW_PERIODS'
  | 'TIMEOUT'
  | 'REGISTRATION_CANCELLED'
  | 'NO_PROVIDENT_FUND'
  | 'STRETCHED'
  | 'CONSTRAINED'
  | 'CHARGE_ON_RECEIVABLES'
  | 'DUPLICATE_FINANCED'
  | 'COMMON_DIRECTOR'
  | 'SLOW'
  | 'CONSENT_REVOKED'
  | 'MALFORMED_ANSWER'
  | 'NEAR_MATCH'
  | 'OTHER_NAME'
  | 'LEI_LAPSED'
  | 'NO_LEI'
  | 'CREDIT_NOTES'
  | 'REJECTIONS'
  | 'NO_TRADE_RECORD'
  | 'OTHER_VALUE'

export const packScenarios = [
  { digits: '01', scenario: 'DECLINING', words: 'trade declines' },
  { digits: '02', scenario: 'TOO_FEW_PERIODS', words: 'too few periods filed' },
  { digits: '03', scenario: 'TIMEOUT', words: 'the registries do not answer in time' },
  { digits: '04', scenario: 'REGISTRATION_CANCELLED', words: 'the registration is cancelled' },
  { digits: '05', scenario: 'NO_PROVIDENT_FUND', words: 'no provident-fund record' },
  { digits: '06', scenario: 'STRETCHED', words: 'the order is large for the party' },
  { digits: '07', scenario: 'CONSTRAINED', words: 'the order is very large for the party' },
  { digits: '08', scenario: 'CHARGE_ON_RECEIVABLES', words: 'an active charge on receivables' },
  { digits: '09', scenario: 'DUPLICATE_FINANCED', words: 'financed elsewhere' },
  { digits: '10', scenario: 'COMMON_DIRECTOR', words: 'a director in common' },
  { digits: '11', scenario: 'SLOW', words: 'an answer after 12 s' },
  { digits: '12', scenario: 'CONSENT_REVOKED', words: 'consent revoked' },
  { digits: '13', scenario: 'MALFORMED_ANSWER', words: 'a malformed answer' },
  { digits: '14', scenario: 'NEAR_MATCH', words: 'a near match in the first-financing registry' },
] as const satisfies readonly { digits: string; scenario: Scenario; words: string }[]

const SCENARIOS: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  ...packScenarios.map(({ digits, scenario }) => [digits, scenario] as const),
  // The following scenarios do not affect packs.
  ['41', 'OTHER_NAME'],
  ['42', 'LEI_LAPSED'],
  ['43', 'NO_LEI'],
  ['44', 'CREDIT_NOTES'],
  ['45', 'REJECTIONS'],
  ['46', 'NO_TRADE_RECORD'],
  ['47', 'OTHER_VALUE'],
])

/** `undefined` without a scenario. */
export function scenarioOfPan(pan: string): Scenario | undefined {
  return SCENARIOS.get(pan.slice(7, 9))
}

/** Computes the matching check character. */
export function withScenario(gstin: string, digits: string): string {
  const first14 = `${gstin.slice(0, 9)}${digits}${gstin.slice(11, 14)}`
  return `${first14}${gstinCheckCharacter(first14) ?? ''}`
}

type Parties = Pick<PackRequest, 'buyerGstin' | 'borrowerGstin' | 'subcontractorGstin'>

/** Buyer, borrower and subcontractor, in this order. */
export function partyPans(parties: Parties): [string, string, string] {
  return [panOfGstin(parties.buyerGstin), panOfGstin(parties.borrowerGstin), panOfGstin(parties.subcontractorGstin)]
}

export function anyPartyIs(parties: Parties, scenario: Scenario): boolean {
  return partyPans(parties).some((pan) => scenarioOfPan(pan) === scenario)
}

/** Scenarios 09 and 14 of any party add matches. */
export function withSandboxFindings(
  found: RegistryFindings,
  parties: Parties,
  firstSeenMonth: string,
): RegistryFindings {
  if (found.status === 'UNAVAILABLE') return found
  const matches: RegistryMatch[] = []
  const foreign = { ownRegistration: false, firstSeenMonth }
  if (anyPartyIs(parties, 'DUPLICATE_FINANCED')) matches.push({ class: 'EXACT', state: 'FINANCED', ...foreign })
  if (anyPartyIs(parties, 'NEAR_MATCH')) matches.push({ class: 'NEAR', state: 'REGISTERED', ...foreign })
  return { status: 'ANSWERED', matches: disclosed([...found.matches, ...matches]) }
}

/** Returns true for a buyer that rejects all, 45 (docs/spec/risk-signals.md#sandbox-digits). */
export function rejectsEverything(buyerGstin: string): boolean {
  return scenarioOfPan(panOfGstin(buyerGstin)) === 'REJECTIONS'
}

/** Two rejections. */
export function addedActions(buyerGstin: string): AcceptanceAction[] {
  return rejectsEverything(buyerGstin) ? ['REJECTED', 'REJECTED'] : []
}

/** Results of the sandbox scenarios for a receivable, by either party (docs/spec/risk-signals.md#sandbox-digits). */
export interface FinancingScenario {
  /** matches without a registration */
  added: DisclosedMatch[]
  /** false if the registry's information is insufficient */
  isResolved: boolean
  /** true if it is financed elsewhere and cannot be registered */
  isRegisteredElsewhere: boolean
  /** true if the response takes longer than a caller waits */
  isSlow: boolean
}

const UNRESOLVED: readonly Scenario[] = ['TIMEOUT', 'CONSENT_REVOKED', 'MALFORMED_ANSWER']

export function financingScenario(
  { supplierGstin, buyerGstin }: Pick<ReceivableFields, 'supplierGstin' | 'buyerGstin'>,
  firstSeenMonth: string,
): FinancingScenario {
  const scenarios = [supplierGstin, buyerGstin].map((gstin) => scenarioOfPan(panOfGstin(gstin)))
  const foreign = { ownRegistration: false, contested: false, firstSeenMonth }
  const isRegisteredElsewhere = scenarios.includes('DUPLICATE_FINANCED')
  return {
    added: [
      ...(isRegisteredElsewhere ? [{ class: 'EXACT' as const, state: 'FINANCED' as const, ...foreign }] : []),
      ...(scenarios.includes('NEAR_MATCH')
        ? [{ class: 'NEAR' as const, state: 'REGISTERED' as const, ...foreign }]
        : []),
    ],
    isResolved: !scenarios.some((scenario) => scenario !== undefined && UNRESOLVED.includes(scenario)),
    isRegisteredElsewhere,
    isSlow: scenarios.includes('SLOW'),
  }
}
