import { gstinLegacyStates } from '../identifiers/gstin.ts'
import type { MissingReason, RegistryResult } from '../registries/connector.ts'
import { addMonths, indianDay } from './money.ts'
import type { PackRegistryResults, PartyRole } from './policy.ts'
import type { PackRequest } from './request.ts'
import type { CashflowNotes } from './signals/account-cashflow.ts'
import type { RegistryFindings } from './signals/double-financing.ts'
import type { AssessedToken } from './signals/e-invoice.ts'
import type { Leg, TokenReason } from './signals/e-invoice-token.ts'
import { quarterOf } from './signals/return-window.ts'
import type { LedgerWindow } from './signals/trade-ledger.ts'
import { tradeTrend } from './signals/trade-relationship.ts'

export interface FlagsInput {
  env: 'SANDBOX' | 'PRODUCTION'
  request: PackRequest
  results: PackRegistryResults
  windows: { ab: LedgerWindow | null; bc: LedgerWindow | null }
  tokens: readonly AssessedToken[]
  findings: RegistryFindings
  cashflowNotes: CashflowNotes
  isCashflowMissing: boolean
}

const REASONS: Record<MissingReason, string> = {
  NO_CONSENT: 'no consent was given',
  CONSENT_EXPIRED: 'the consent has expired',
  CONSENT_REVOKED: 'the consent was revoked',
  NOT_FOUND: 'the registry holds no record',
  NOT_FILED: 'nothing is filed',
  TIMEOUT: 'the registry did not answer in time',
  UPSTREAM_ERROR: 'the registry answered with an error',
  NOT_ENTITLED: 'this installation has no access to the registry',
  UNPARSEABLE: 'the registry answered something unreadable',
}

const TOKEN_REASONS: Record<TokenReason, string> = {
  TOO_LARGE: 'it is larger than 64 KiB',
  UNPARSEABLE: 'it is not a compact signed token',
  ALG_NOT_ALLOWED: 'its signature algorithm is not RS256',
  KEY_UNKNOWN: 'its signing key is not in the key store',
  BAD_SIGNATURE: 'its signature does not verify',
  DATA_UNPARSEABLE: 'its data is not JSON',
  FIELD_MISSING: 'a required field is missing or misshaped',
  KEY_NOT_VALID_THEN: 'its signing key was not valid on the day of issue',
  IRN_MISMATCH: 'its reference number is not the hash of its fields',
  WRONG_PARTIES: 'its seller and buyer are not the parties of a leg',
  DATE_ORDER: 'its document date lies after its issue date',
  BAD_TOTAL: 'its total is not a positive amount of at most two decimals',
}

/** Sentences about missing, omitted and observed values, without advice. */
export function packFlags(input: FlagsInput): string[] {
  return [
    ...(input.env === 'SANDBOX' ? ['Sandbox data: the values describe no real business'] : []),
    ...legacyRegistrations(input.request),
    ...tradeFlags(input),
    ...partyFlags(input),
    ...cashflowFlags(input),
    ...invoiceFlags(input),
    ...financingFlags(input),
  ]
}

function legacyRegistrations(request: PackRequest): string[] {
  return [request.buyerGstin, request.borrowerGstin, request.subcontractorGstin].flatMap((gstin) => {
    const state = gstinLegacyStates[gstin.slice(0, 2)]
    return state ? [`Registration ${gstin} has a legacy state code: ${state}`] : []
  })
}

function tradeFlags({ results, windows }: FlagsInput): string[] {
  return (['ab', 'bc'] as const).flatMap((leg) => {
    const key = `tradeRelationship.${leg}`
    const window = windows[leg]
    if (results.trade[leg].status !== 'OK') return missing(key, results.trade[leg])
    if (!window) return [`${key} is missing: 0 of 12 periods are filed`]
    const flags: string[] = []
    if (window.filedMonths < 12)
      flags.push(`${key}: ${12 - window.filedMonths} of 12 periods not filed or not obtainable`)
    if (results.trade[leg].data?.hasNotes === false) {
      flags.push(`${key}: credit notes and amendments are not in this source`)
    }
    if (tradeTrend(window.monthlyPaise) === 'INSUFFICIENT_DATA') {
      flags.push(`${key}.trend: too few periods with trade in both halves of the window to state a trend`)
    }
    return flags
  })
}

function partyFlags({ request, results }: FlagsInput): string[] {
  const gstins: Record<PartyRole, string> = {
    buyer: request.buyerGstin,
    borrower: request.borrowerGstin,
    subcontractor: request.subcontractorGstin,
  }
  const roles = ['buyer', 'borrower', 'subcontractor'] as const
  const registrations = roles.flatMap((role) => {
    const result = results.taxpayer[role]
    if (result.status !== 'OK') return missing(`Registration status of the ${role}`, result)
    const { status } = result.data
    return status === 'ACTIVE' ? [] : [`Registration ${gstins[role]} of the ${role} is ${status}`]
  })
  const capacities = (['borrower', 'subcontractor'] as const).flatMap((role) => [
    ...missing(`${role}Capacity.annualTurnoverInr`, results.turnover[role]),
    ...shortTurnover(role, results),
    ...missing(`${role}Capacity.activeEmployeeCount`, results.headcount[role]),
  ])
  const companies = roles.flatMap((role) => missing(`Company data of the ${role}`, results.company[role]))
  return [...registrations, ...capacities, ...companies]
}

/** Reports a turnover of less than a year, because it is rated as annual, unless the registration itself is younger. */
function shortTurnover(role: 'borrower' | 'subcontractor', { turnover, taxpayer }: PackRegistryResults): string[] {
  const result = turnover[role]
  const covered = result.status === 'OK' ? coveredMonths(result.data.periods.map(({ period }) => period)) : 12
  const registered = taxpayer[role].data?.registeredOn?.slice(0, 7) ?? null
  if (covered >= 12 || (registered !== null && registered > addMonths(indianDay(Date.parse(result.observedAt)), -12))) {
    return []
  }
  return [`${role}Capacity.annualTurnoverInr covers ${covered} of 12 months`]
}

/** Counts three months per period if all periods are last months of quarters, as in quarterly returns. */
function coveredMonths(periods: readonly string[]): number {
  const isQuarterly = periods.every((period) => quarterOf(period) === period) && periods.length <= 4
  return new Set(periods).size * (isQuarterly ? 3 : 1)
}

function cashflowFlags({ results, cashflowNotes, isCashflowMissing }: FlagsInput): string[] {
  const { excludedFacilities, shortHistories } = cashflowNotes
  const flags = missing('aaCashflow', results.accounts)
  if (excludedFacilities > 0) {
    flags.push(`aaCashflow leaves out ${excludedFacilities} overdraft or cash-credit account(s)`)
  }
  if (shortHistories > 0) {
    flags.push(`aaCashflow leaves out ${shortHistories} account(s) with fewer than 3 complete months`)
  }
  if (flags.length === 0 && isCashflowMissing) flags.push('aaCashflow is missing: no savings or current account')
  return flags
}

function invoiceFlags({ tokens }: FlagsInput): string[] {
  const failures = tokens.flatMap(({ check, returnMatch }, index) => {
    const name = `E-invoice token ${index + 1}`
    if (check.reason) return [`${name} (${check.reason}): ${TOKEN_REASONS[check.reason]}`]
    if (returnMatch === 'OTHER_VALUE') return [`${name}: its total differs from the filed return by more than 1 rupee`]
    return returnMatch === 'ABSENT' ? [`${name}: it is not in the filed return of its period`] : []
  })
  const legs: readonly Leg[] = ['A_TO_B', 'B_TO_C']
  const absent = legs
    .filter((leg) => !tokens.some((token) => token.check.leg === leg))
    .map((leg) => `Leg ${leg} has no e-invoice token; e-invoicing is mandatory only above 5 crore turnover`)
  return [...failures, ...absent]
}

function financingFlags({ request, results, tokens, findings }: FlagsInput): string[] {
  const flags = missing('doubleFinancing.cersai', results.security)
  if (findings.status === 'UNAVAILABLE') {
    return [...flags, 'doubleFinancing: the first-financing registry did not answer']
  }
  if (!request.poNumber && !request.eInvoices?.length) {
    // The sandbox's example invoices are part of the pack, so a note about their absence would contradict it.
    const examples = tokens.length === 0 ? '' : 'The e-invoices shown are examples of the sandbox. '
    flags.push(
      `${examples}The request gave no purchase-order number or e-invoice: the first-financing registry was searched by parties and value alone`,
    )
  }
  for (const match of findings.matches) {
    const who = match.ownRegistration ? 'the same organisation' : 'another organisation'
    const state = match.state.toLowerCase()
    flags.push(`First-financing registry: ${match.class} match ${state} by ${who}, first seen ${match.firstSeenMonth}`)
  }
  return flags
}

function missing(name: string, result: RegistryResult<unknown>): string[] {
  return result.status === 'OK'
    ? []
    : [`${name} is missing: ${REASONS[result.missingReason]} (${result.missingReason})`]
}
