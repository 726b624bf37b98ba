import { panOfGstin } from '../identifiers/gstin.ts'
import { addDays, addMonths, dayOf, indianDay } from '../packs/money.ts'
import type { PackRegistryResults } from '../packs/policy.ts'
import type { PackConsents, PackRequest } from '../packs/request.ts'
import type { ConsentRef, RegistryContext, RegistryEnv, RegistryResult } from './connector.ts'
import type { CompanyMaster } from './registry-data.ts'
import type { RegistrySet } from './registry-set.ts'

/** Time limit of a pack for all registries together (docs/spec/risk-signals.md#registry-results). */
const PACK_BUDGET_MS = 20_000

export interface GatherInput {
  registries: RegistrySet
  request: PackRequest
  env: RegistryEnv
  orgId: string
  requestId: string
  now: number
  /** aborted when the composing process stops; pending results then become MISSING/TIMEOUT */
  signal: AbortSignal
  budgetMs?: number
}

/** Queries in parallel within one budget. Never rejects because of a registry. */
export async function gatherRegistryResults(input: GatherInput): Promise<PackRegistryResults> {
  const { registries, request, now } = input
  const { buyerGstin, borrowerGstin, subcontractorGstin } = request
  const context = (family?: keyof PackConsents) => contextFor(input, family)
  const trade = (supplierGstin: string, recipientGstin: string) =>
    registries.tradeReturns.fetch(context('gst'), { supplierGstin, recipientGstin, ...tradeMonths(now) })
  const taxpayer = (gstin: string) => registries.taxpayerStatus.fetch(context(), { gstin })
  const company = (gstin: string) => registries.companyMaster.fetch(context(), { pan: panOfGstin(gstin) })
  const turnover = (gstin: string) => registries.outwardSupplies.fetch(context('gst'), { gstin })
  const headcount = (gstin: string) => registries.providentFund.fetch(context('epfo'), { pan: panOfGstin(gstin) })
  const borrowerPan = panOfGstin(borrowerGstin)
  const companies = {
    buyer: company(buyerGstin),
    borrower: company(borrowerGstin),
    subcontractor: company(subcontractorGstin),
  }
  // A group is found by the company number, which the company register returns.
  const group = async (answer: Promise<RegistryResult<CompanyMaster>>) => {
    const cin = (await answer).data?.companyNumber
    return cin ? await registries.groups.fetch(context(), { cin }) : null
  }
  return joined({
    trade: joined({ ab: trade(borrowerGstin, buyerGstin), bc: trade(subcontractorGstin, borrowerGstin) }),
    taxpayer: joined({
      buyer: taxpayer(buyerGstin),
      borrower: taxpayer(borrowerGstin),
      subcontractor: taxpayer(subcontractorGstin),
    }),
    company: joined(companies),
    group: joined({
      buyer: group(companies.buyer),
      borrower: group(companies.borrower),
      subcontractor: group(companies.subcontractor),
    }),
    turnover: joined({ borrower: turnover(borrowerGstin), subcontractor: turnover(subcontractorGstin) }),
    headcount: joined({ borrower: headcount(borrowerGstin), subcontractor: headcount(subcontractorGstin) }),
    security: registries.securityInterests.fetch(context(), { pan: borrowerPan, searchType: 'SI' }),
    accounts: registries.accounts.fetch(context('aa'), { pan: borrowerPan, ...statementDays(now) }),
  })
}

function contextFor(
  { request, env, orgId, requestId, now, signal, budgetMs }: GatherInput,
  family?: keyof PackConsents,
) {
  const context: RegistryContext = { env, orgId, requestId, signal, deadline: now + (budgetMs ?? PACK_BUDGET_MS) }
  const handle = family && request.consents?.[family]
  return handle ? { ...context, consent: consentRef(handle) } : context
}

function consentRef(handle: string): ConsentRef {
  return { handle, id: null, purposeCode: null, expiresAt: null }
}

// A quarterly filer's window ends up to four months before a monthly one's; this covers both.
function tradeMonths(now: number): { from: string; to: string } {
  const to = addMonths(indianDay(now), -1)
  return { from: addMonths(to, -15), to }
}

// Six complete months and the time before them, for the opening balance.
function statementDays(now: number): { from: string; to: string } {
  const today = indianDay(now)
  return { from: dayOf(addMonths(today, -7), 1), to: addDays(today, -1) }
}

async function joined<Parts extends Record<string, Promise<unknown>>>(
  parts: Parts,
): Promise<{ [Key in keyof Parts]: Awaited<Parts[Key]> }> {
  const entries = await Promise.all(Object.entries(parts).map(async ([key, part]) => [key, await part] as const))
  // Rebuilt from the entries of `parts`, so keys and types of values are equal.
  return Object.fromEntries(entries) as { [Key in keyof Parts]: Awaited<Parts[Key]> }
}
