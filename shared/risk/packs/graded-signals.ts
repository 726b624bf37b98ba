import type { EvidenceTier } from '../registries/connector.ts'
import { inrText } from './money.ts'
import type { GradedSignal, PackSignals } from './pack-schema.ts'
import { GRADED_KEYS, type GradedKey, type PackPolicy, type PackRegistryResults } from './policy.ts'
import type { DoubleFinancingStatus } from './signals/double-financing.ts'
import type { AssessedToken } from './signals/e-invoice.ts'
import type { LinkType, NotCompared, RelatedParty } from './signals/related-party.ts'
import type { LedgerWindow } from './signals/trade-ledger.ts'

export interface GradingInput {
  signals: PackSignals
  results: PackRegistryResults
  windows: { ab: LedgerWindow | null; bc: LedgerWindow | null }
  tokens: readonly AssessedToken[]
  relatedParty: RelatedParty
}

type Finding = { status: EvidenceTier; detail: string }

const LABELS: Record<GradedKey, string> = {
  'tradeRelationship.ab': 'Buyer to borrower trade',
  'tradeRelationship.bc': 'Borrower to subcontractor trade',
  eInvoice: 'E-invoices',
  subcontractorCapacity: 'Subcontractor capacity',
  borrowerCapacity: 'Borrower capacity',
  relatedParty: 'Related-party check',
  doubleFinancing: 'Double-financing check',
}

/** One entry per question with its lowest tier (docs/spec/risk-signals.md#graded-signals). */
export function gradedSignals(input: GradingInput, policy: PackPolicy): GradedSignal[] {
  const findings: Record<GradedKey, Finding> = {
    'tradeRelationship.ab': tradeFinding(input, 'ab'),
    'tradeRelationship.bc': tradeFinding(input, 'bc'),
    eInvoice: invoiceFinding(input),
    subcontractorCapacity: capacityFinding(input, 'subcontractor'),
    borrowerCapacity: capacityFinding(input, 'borrower'),
    relatedParty: relatedFinding(input),
    doubleFinancing: financingFinding(input),
  }
  return GRADED_KEYS.map((key) => {
    const { status, detail } = findings[key]
    return { key, label: LABELS[key], status, grade: policy.grades[key], detail }
  })
}

function tradeFinding({ results, windows }: GradingInput, leg: 'ab' | 'bc'): Finding {
  const result = results.trade[leg]
  const window = windows[leg]
  if (result.status !== 'OK') return { status: 'MISSING', detail: `No return data (${result.missingReason})` }
  if (!window) return { status: 'MISSING', detail: '0 of 12 periods filed' }
  const { invoices, monthsActive, totalPaise, filedMonths } = window
  const trade = `${invoices.length} invoices in ${monthsActive} of 12 months — ${inrText(totalPaise)}`
  return { status: result.tier, detail: `${trade}; ${filedMonths} of 12 periods filed` }
}

function invoiceFinding({ signals, tokens }: GradingInput): Finding {
  const { provided, gstnSigned, abLegCorroborated, bcLegCorroborated } = signals.eInvoice
  if (provided === 0) return { status: 'MISSING', detail: 'No e-invoice token was provided' }
  const legs = [abLegCorroborated && 'A_TO_B', bcLegCorroborated && 'B_TO_C'].filter((leg) => leg !== false)
  const corroborated = legs.length > 0 ? `corroborated legs: ${legs.join(', ')}` : 'no leg corroborated'
  const detail = `${gstnSigned} of ${provided} tokens carry a portal signature that verifies; ${corroborated}`
  return { status: tokensTier(tokens), detail }
}

// The portal's signature covers only the document; an equal value in the filed return is a confirmation by a registry.
function tokensTier(tokens: readonly AssessedToken[]): EvidenceTier {
  if (tokens.every(({ returnMatch }) => returnMatch === 'SAME_VALUE')) return 'REGISTRY_VERIFIED'
  return tokens.every(({ check }) => check.signatureVerified) ? 'DOCUMENT_SIGNED' : 'SELF_DECLARED'
}

function capacityFinding({ results }: GradingInput, role: 'borrower' | 'subcontractor'): Finding {
  const turnover = results.turnover[role]
  const headcount = results.headcount[role]
  const members =
    headcount.status === 'OK'
      ? `${headcount.data.activeMembers} members with a contribution in ${headcount.data.wageMonth}`
      : `no provident-fund record (${headcount.missingReason})`
  if (turnover.status !== 'OK')
    return { status: 'MISSING', detail: `No turnover (${turnover.missingReason}); ${members}` }
  const { periods } = turnover.data
  const total = Number(periods.reduce((sum, period) => sum + BigInt(period.valuePaise), 0n))
  return { status: turnover.tier, detail: `Turnover ${inrText(total)} in ${periods.length} filed periods; ${members}` }
}

const LINKS: Record<LinkType, string> = {
  SAME_PAN: 'the same PAN',
  DIRECTOR: 'a shared director',
  HOLDING: 'a holding of 20 % or more',
  PARENT: 'one accounting parent',
  ADDRESS: 'a shared registered address',
  BANK_ACCOUNT: 'a shared bank account',
  PHONE: 'a shared phone number',
  EMAIL: 'a shared e-mail address',
}

function relatedFinding({ relatedParty, results }: GradingInput): Finding {
  const { finding, links, notCompared } = relatedParty
  if (finding === 'MISSING') {
    const lack = notCompared.includes('DIRECTOR') ? 'directors were not compared' : 'company data is missing'
    return { status: 'MISSING', detail: `No shared PAN; ${lack} for at least one party` }
  }
  if (finding === 'NONE_FOUND') {
    return {
      status: 'REGISTRY_VERIFIED',
      detail: `No shared PAN, director, holding, address, account or contact found${limitsOf(notCompared)}`,
    }
  }
  const isConfirmed = Object.values(results.taxpayer).every((result) => result.status === 'OK')
  const status = finding === 'SAME_LEGAL_ENTITY' && !isConfirmed ? 'SELF_DECLARED' : 'REGISTRY_VERIFIED'
  return { status, detail: `Found between two parties: ${links.map((link) => LINKS[link]).join(', ')}` }
}

const NOT_COMPARED: Record<NotCompared, string> = {
  DIRECTOR: 'directors',
  HOLDING: 'holdings',
  ADDRESS: 'addresses',
  BANK_ACCOUNT: 'bank accounts',
  PHONE: 'phone numbers',
  EMAIL: 'e-mail addresses',
}

function limitsOf(notCompared: readonly NotCompared[]): string {
  return notCompared.length === 0 ? '' : `; not compared: ${notCompared.map((kind) => NOT_COMPARED[kind]).join(', ')}`
}

const FINANCING: Record<DoubleFinancingStatus, Finding> = {
  CLEAN: {
    status: 'REGISTRY_VERIFIED',
    detail: 'No matching registration and no active charge on receivables found',
  },
  POSSIBLE_MATCH: { status: 'LENDER_SIDE', detail: 'A similar document is registered by another organisation' },
  DUPLICATE_REGISTERED: { status: 'LENDER_SIDE', detail: 'The same document is registered by another organisation' },
  DUPLICATE_FINANCED: {
    status: 'LENDER_SIDE',
    detail: 'The same document is marked as financed by another organisation',
  },
  CHARGE_FOUND: { status: 'REGISTRY_VERIFIED', detail: 'An active charge that covers receivables is registered' },
  UNRESOLVED: { status: 'MISSING', detail: 'A required source did not answer' },
}

function financingFinding({ signals }: GradingInput): Finding {
  return FINANCING[signals.doubleFinancing.status]
}
