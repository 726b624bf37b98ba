import { createHash } from 'node:crypto'
import { panOfGstin } from '../identifiers/gstin.ts'
import type { RegistryResult } from '../registries/connector.ts'
import type { TradeLedger } from '../registries/registry-data.ts'
import { type EvidenceRecord, packEvidence } from './evidence.ts'
import { gradedSignals } from './graded-signals.ts'
import { addMonths, indianDay, type Paise, parsePaise } from './money.ts'
import { packFlags } from './pack-flags.ts'
import type { PackBody, PackSignals } from './pack-schema.ts'
import { defaultPolicy, type PackPolicy, type PackRegistryResults, type PartyRole } from './policy.ts'
import type { PackRequest } from './request.ts'
import { signalLevel } from './signal-level.ts'
import { accountCashflow } from './signals/account-cashflow.ts'
import { type CapacitySubject, capacity } from './signals/capacity.ts'
import { doubleFinancing, type RegistryFindings } from './signals/double-financing.ts'
import { eInvoice } from './signals/e-invoice.ts'
import { verifyInvoiceToken } from './signals/e-invoice-token.ts'
import { counterpartyEstablishment, type Env, type InvoiceKey } from './signals/invoice-keys.ts'
import { type PartyIdentity, relatedParty } from './signals/related-party.ts'
import { tradeRelationship } from './signals/trade-relationship.ts'

export interface ComposeInput {
  /** random, so that the hash of the pack cannot be guessed */
  packId: string
  /** ISO 8601 UTC with milliseconds */
  generatedAt: string
  env: Env
  request: PackRequest
  registryResults: PackRegistryResults
  registryFindings: RegistryFindings
  /** the sandbox's demo tokens if the request has none */
  eInvoiceTokens: readonly string[]
  invoiceKeys: readonly InvoiceKey[]
  policy?: PackPolicy
}

/** Equal responses give equal signals. The caller adds the anchor after hashing. */
export function composePack(input: ComposeInput): { pack: PackBody; evidence: EvidenceRecord[] } {
  const { packId, generatedAt, env, request, registryResults: results, registryFindings: findings } = input
  const policy = input.policy ?? defaultPolicy
  const ab = tradeLeg(results.trade.ab, request.buyerGstin, results, 'buyer')
  const bc = tradeLeg(results.trade.bc, request.subcontractorGstin, results, 'subcontractor')
  const windows = { ab: ab.window, bc: bc.window }

  const tokenChecks = distinctTokens(input)
  const checks = tokenChecks.map(({ check }) => check)
  const invoices = eInvoice(checks, { A_TO_B: ab.window, B_TO_C: bc.window })
  const { accounts } = results
  const { cashflow, notes } = accountCashflow(accounts.data, accounts.source, Date.parse(accounts.observedAt))
  const related = relatedParty([
    identityOf(results, 'buyer', request.buyerGstin),
    identityOf(results, 'borrower', request.borrowerGstin),
    identityOf(results, 'subcontractor', request.subcontractorGstin),
  ])
  const signals: PackSignals = {
    tradeRelationship: { ab: ab.leg, bc: bc.leg },
    subcontractorCapacity: {
      ...partyCapacity(results, 'subcontractor', 'SUBCONTRACTOR', request.subcontractValue ?? request.poValue),
      subject: 'SUBCONTRACTOR',
    },
    borrowerCapacity: { ...partyCapacity(results, 'borrower', 'BORROWER', request.poValue), subject: 'BORROWER' },
    doubleFinancing: doubleFinancing(findings, results.security.data, results.security.source),
    aaCashflow: cashflow,
    eInvoice: invoices.eInvoice,
    counterpartyEstablishment: {
      buyer: counterpartyEstablishment(ab.leg),
      subcontractor: counterpartyEstablishment(bc.leg),
    },
  }
  const tokens = invoices.assessed
  const level = {
    signals,
    relatedParty: related.finding,
    tokens,
    hasInactiveRegistration: Object.values(results.taxpayer).some(
      (result) => result.status === 'OK' && result.data.status !== 'ACTIVE',
    ),
  }
  const isCashflowMissing = cashflow.avgMonthlyBalance === null
  const pack: PackBody = {
    packId,
    generatedAt,
    signalLevel: signalLevel(level),
    signals,
    gradedSignals: gradedSignals({ signals, results, windows, tokens, relatedParty: related }, policy),
    flags: packFlags({ env, request, results, windows, tokens, findings, cashflowNotes: notes, isCashflowMissing }),
  }
  const hashed = tokens.map((assessed, index) => ({ assessed, sha256: sha256(tokenChecks[index]?.token ?? '') }))
  const { policyVersion } = policy
  return { pack, evidence: packEvidence({ generatedAt, policyVersion, request, results, findings, tokens: hashed }) }
}

/** Omits repeated tokens, and a second valid token of an invoice. */
function distinctTokens({ eInvoiceTokens, invoiceKeys, request, env }: ComposeInput) {
  const seen = new Set<string>()
  return [...new Set(eInvoiceTokens)].flatMap((token) => {
    const check = verifyInvoiceToken(token, { ...request, env, keys: invoiceKeys })
    if (check.reason !== null || check.document === null) return [{ token, check }]
    const irn = check.document.irn.toLowerCase()
    if (seen.has(irn)) return []
    seen.add(irn)
    return [{ token, check }]
  })
}

function tradeLeg(
  result: RegistryResult<TradeLedger>,
  counterpartyGstin: string,
  results: PackRegistryResults,
  counterparty: 'buyer' | 'subcontractor',
) {
  const observedAtMs = Date.parse(result.observedAt)
  const { consent } = result
  return tradeRelationship({
    counterpartyGstin,
    ledger: result.data,
    observedAtMs,
    isBothActive: isActive(results, 'borrower') && isActive(results, counterparty),
    isConsentLive: consent !== null && (consent.expiresAt === null || Date.parse(consent.expiresAt) > observedAtMs),
  })
}

function identityOf({ company, group }: PackRegistryResults, role: PartyRole, gstin: string): PartyIdentity {
  return { pan: panOfGstin(gstin), company: company[role].data, group: group[role]?.data ?? null }
}

function isActive(results: PackRegistryResults, role: PartyRole): boolean {
  return results.taxpayer[role].data?.status === 'ACTIVE'
}

function partyCapacity(
  results: PackRegistryResults,
  role: 'borrower' | 'subcontractor',
  subject: CapacitySubject,
  orderInr: number,
) {
  const taxpayer = results.taxpayer[role]
  const registeredOn = taxpayer.data?.registeredOn ?? null
  const today = indianDay(Date.parse(taxpayer.observedAt))
  return capacity({
    subject,
    orderPaise: wholePaise(orderInr),
    turnoverPaise: turnoverOf(results, role),
    activeEmployeeCount: results.headcount[role].data?.activeMembers ?? null,
    hasOtherRegistrations: (taxpayer.data?.otherGstins.length ?? 0) > 0,
    isNewRegistration: registeredOn !== null && registeredOn.slice(0, 7) > addMonths(today, -12),
  })
}

function turnoverOf(results: PackRegistryResults, role: 'borrower' | 'subcontractor'): Paise | null {
  const periods = results.turnover[role].data?.periods
  return periods ? Number(periods.reduce((sum, period) => sum + BigInt(period.valuePaise), 0n)) : null
}

// The request's schema excludes this, so it is an error of the caller and not of the data.
function wholePaise(amountInr: number): Paise {
  const paise = parsePaise(amountInr)
  if (paise === undefined) throw new RangeError('an order value must have at most two decimals')
  return paise
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
