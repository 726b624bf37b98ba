import { panOfGstin } from '../../identifiers/gstin.ts'
import type { PackRequest } from '../../packs/request.ts'
import type { OwnRegistryFindings, RegistryMatch } from '../../packs/signals/double-financing.ts'

/** What the last two digits of a party's PAN switch on (domain 9). Other digits switch on nothing. */
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

const SCENARIOS: ReadonlyMap<string, Scenario> = new Map([
  ['01', 'DECLINING'],
  ['02', 'TOO_FEW_PERIODS'],
  ['03', 'TIMEOUT'],
  ['04', 'REGISTRATION_CANCELLED'],
  ['05', 'NO_PROVIDENT_FUND'],
  ['06', 'STRETCHED'],
  ['07', 'CONSTRAINED'],
  ['08', 'CHARGE_ON_RECEIVABLES'],
  ['09', 'DUPLICATE_FINANCED'],
  ['10', 'COMMON_DIRECTOR'],
  ['11', 'SLOW'],
  ['12', 'CONSENT_REVOKED'],
  ['13', 'MALFORMED_ANSWER'],
  ['14', 'NEAR_MATCH'],
  // Those below change nothing of a pack.
  ['41', 'OTHER_NAME'],
  ['42', 'LEI_LAPSED'],
  ['43', 'NO_LEI'],
  ['44', 'CREDIT_NOTES'],
  ['45', 'REJECTIONS'],
  ['46', 'NO_TRADE_RECORD'],
  ['47', 'OTHER_VALUE'],
])

/** The scenario of a legal entity; `undefined` for a clear one. An exporter's code is switched alike. */
export function scenarioOfPan(pan: string): Scenario | undefined {
  return SCENARIOS.get(pan.slice(7, 9))
}

type Parties = Pick<PackRequest, 'buyerGstin' | 'borrowerGstin' | 'subcontractorGstin'>

/** The PANs of buyer, borrower and subcontractor, in this order. */
export function partyPans(parties: Parties): [string, string, string] {
  return [panOfGstin(parties.buyerGstin), panOfGstin(parties.borrowerGstin), panOfGstin(parties.subcontractorGstin)]
}

/** Whether any party of a request switches a scenario on. */
export function anyPartyIs(parties: Parties, scenario: Scenario): boolean {
  return partyPans(parties).some((pan) => scenarioOfPan(pan) === scenario)
}

/**
 * What the first-financing registry's sandbox adds to the real answer: scenarios 09 and 14, for any party.
 * @param found the installation's own answer for this request
 */
export function withSandboxFindings(
  found: OwnRegistryFindings,
  parties: Parties,
  firstSeenMonth: string,
): OwnRegistryFindings {
  if (found.status === 'UNAVAILABLE') return found
  const matches: RegistryMatch[] = []
  const foreign = { ownRegistration: false, firstSeenMonth }
  if (anyPartyIs(parties, 'DUPLICATE_FINANCED')) matches.push({ class: 'EXACT', state: 'FINANCED', ...foreign })
  if (anyPartyIs(parties, 'NEAR_MATCH')) matches.push({ class: 'NEAR', state: 'REGISTERED', ...foreign })
  return { status: 'ANSWERED', matches: [...found.matches, ...matches] }
}
