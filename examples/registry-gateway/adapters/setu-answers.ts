import { financialYear } from '#shared/risk/identifiers/financial-year.ts'
import { addMonths, indianDay, monthsFrom } from '#shared/risk/packs/money.ts'
import { quarterOf } from '#shared/risk/packs/signals/return-window.ts'
import { AccountsAnswer } from '#shared/risk/registries/http/accounts.ts'
import { OutwardSuppliesAnswer } from '#shared/risk/registries/http/taxpayers.ts'
import { TradeReturnsAnswer } from '#shared/risk/registries/http/trade-returns.ts'
import { type Adapter, type Answer, envelopeAnswer, type GatewayRequest, PATTERNS, parameter } from '../adapter.ts'
import type { Work } from '../calls.ts'
import type { ConsentData } from '../consent-data.ts'
import type { ConsentRecord, Consents } from '../consents.ts'
import {
  comparableName,
  incomplete,
  keyedHash,
  noConsent,
  notEntitled,
  notFiled,
  notFound,
  periodOfMonth,
  Refusal,
  unparseable,
} from '../rules.ts'
import type { Taxpayers } from './sandbox.ts'
import type { SetuClient } from './setu.ts'
import { type HeldAccount, type HeldReturns, returnsFor } from './setu-read.ts'

export interface SetuParts {
  client: SetuClient
  consents: Consents
  data: ConsentData
  /** undefined without the adapter of the tax network, which gives legal names and filed periods */
  taxpayers: Taxpayers | undefined
  hashKey: Buffer
}

const MAX_MONTHS = 36
/** Due days of GSTR-3B in the following month; after them a period is expected to be filed. */
const DUE_DAY = { MONTHLY: 20, QUARTERLY: 24 } as const

/** Answers from data that consents delivered. */
export class SetuAdapter implements Adapter {
  readonly name = 'setu'
  readonly operations = ['/accounts/deposits', '/returns/outward-supplies', '/returns/trade']
  readonly mappings = mappings
  readonly #parts: SetuParts

  constructor(parts: SetuParts) {
    this.#parts = parts
  }

  async answer(request: GatewayRequest, work: Work): Promise<Answer> {
    if (request.path === '/accounts/deposits') return await this.#deposits(request, work)
    if (request.path === '/returns/trade') return await this.#trade(request, work)
    return await this.#turnover(request, work)
  }

  health(nowMs: number) {
    return this.#parts.client.health(nowMs)
  }

  async #consented(request: GatewayRequest, work: Work, type: string, covers: (record: ConsentRecord) => boolean) {
    // A handle may name a consent for deposits and another one for returns of the same taxpayer.
    const consent = this.#parts.consents.covering(
      request,
      (record) => covers(record) && (record.fiTypes.length === 0 || record.fiTypes.includes(type)),
    )
    await this.#parts.data.confirm(consent, work)
    const { record } = consent
    if (!record.fiTypes.includes(type) || !record.consentTypes.includes('PROFILE')) throw noConsent()
    const reference = {
      handle: request.handle ?? '',
      id: record.consentId,
      purposeCode: record.purposeCode,
      expiresAt: record.expiresAt,
    }
    return { held: await this.#parts.data.dataOf(consent, work), reference }
  }

  async #deposits(request: GatewayRequest, work: Work): Promise<Answer> {
    const pan = parameter(request, 'pan', PATTERNS.pan)
    const from = parameter(request, 'from', PATTERNS.day)
    const to = parameter(request, 'to', PATTERNS.day)
    const { held, reference } = await this.#consented(request, work, 'DEPOSIT', (record) => record.pan === pan)
    // The holder of an account that did not arrive is not known, and a sum over some banks is too low.
    if (held.hasUndelivered) throw incomplete()
    if ('code' in held.deposits) throw unparseable(held.deposits.member)
    const accounts = held.deposits.filter(({ pans }) => pans.includes(pan))
    if (accounts.length === 0) throw notFound()
    const dates = accounts.map(({ asOf }) => asOf)
    return envelopeAnswer(AccountsAnswer, work, {
      asOf: dates.includes(null) ? null : (dates.filter((at) => at !== null).sort()[0] ?? null),
      consent: reference,
      data: { Account: accounts.map((account) => between(account, from, to)) },
    })
  }

  /** Returns the returns of a registration that the legal name of the tax network confirms. */
  async #returnsOf(request: GatewayRequest, gstin: string, work: Work) {
    const { taxpayers } = this.#parts
    if (!taxpayers) throw notEntitled()
    const { held, reference } = await this.#consented(request, work, 'GSTR1_3B', ({ gstins }) => gstins.includes(gstin))
    if ('code' in held.returns) throw unparseable(held.returns.member)
    const found = returnsFor(held.returns, gstin)
    if (!found) throw held.hasUndelivered ? incomplete() : notFound()
    const { legalName } = await taxpayers.search(gstin, work)
    if (keyedHash(this.#parts.hashKey, 'name', comparableName(legalName)) !== found.nameHash) throw unparseable()
    return { found, reference, network: taxpayers }
  }

  async #turnover(request: GatewayRequest, work: Work): Promise<Answer> {
    const gstin = parameter(request, 'gstin', PATTERNS.gstin)
    const { found, reference, network } = await this.#returnsOf(request, gstin, work)
    const window = turnoverWindow(found, work.deps.now())
    const periods = window.flatMap((month) => found.gstr3b.filter((period) => period.month === month))
    if (periods.length < window.length) {
      const filed = new Set<string>()
      for (const year of yearsOf(window)) {
        const months = await network.filedMonths(gstin, year, 'gstr-3b', work).catch(notKnown)
        if (months === null) throw incomplete()
        for (const month of months) filed.add(month)
      }
      const absent = window.filter((month) => !periods.some((period) => period.month === month))
      // A month that is filed and did not arrive would make the sum too low.
      if (absent.some((month) => filed.has(month))) throw incomplete()
    }
    if (periods.length === 0) throw notFiled()
    return envelopeAnswer(OutwardSuppliesAnswer, work, {
      asOf: null,
      consent: reference,
      data: { gstin, periods: periods.map(({ month, value }) => ({ period: month, value })) },
    })
  }

  async #trade(request: GatewayRequest, work: Work): Promise<Answer> {
    const supplier = parameter(request, 'supplierGstin', PATTERNS.gstin)
    const recipient = parameter(request, 'recipientGstin', PATTERNS.gstin)
    const from = parameter(request, 'from', PATTERNS.month)
    const to = parameter(request, 'to', PATTERNS.month)
    const { found, reference, network } = await this.#returnsOf(request, supplier, work)
    const filing = filingOf(found.gstr1)
    const months = monthsBetween(from, to).filter((month) => filing === 'MONTHLY' || quarterOf(month) === month)
    const delivered = new Map(found.gstr1.map((period) => [period.month, period]))
    const isComplete = months.every((month) => delivered.has(month))
    const tracked = new Map<string, readonly string[] | null>()
    for (const year of isComplete ? [] : yearsOf(months)) {
      tracked.set(year, await network.filedMonths(supplier, year, 'gstr-1', work).catch(notKnown))
    }
    const periods = months.map((month) => {
      const fp = periodOfMonth(month)
      const period = delivered.get(month)
      if (!period) {
        const filed = tracked.get(yearOf(month))
        return { fp, filing, status: filed && !filed.includes(month) ? 'NOT_FILED' : 'NOT_OBTAINABLE' }
      }
      const inv = period.rows.filter((row) => row.ctin === recipient).map(({ ctin: _, ...row }) => row)
      const b2b = inv.length === 0 ? [] : [{ ctin: recipient, inv }]
      return { fp, filing, status: 'FILED', b2b, sections: ['b2b'] }
    })
    return envelopeAnswer(TradeReturnsAnswer, work, {
      asOf: null,
      consent: reference,
      data: { statement: 'GSTR1', gstin: supplier, periods },
    })
  }
}

const mappings: Adapter['mappings'] = {
  '/accounts/deposits': {
    members: {
      Account: 'fips[].accounts[].data.account with type deposit and a holder with this PAN',
      'Account[].Summary': 'summary.currentBalance, type or accountSubType, facility with its limits',
      'Account[].Transactions': 'transactions.transaction[] from the first to the last day of the request',
      asOf: 'summary.balanceDateTime, the oldest',
    },
  },
  '/returns/outward-supplies': {
    members: { 'periods[].value': 'gstr3b[].sup_details: osup_det + osup_zero + osup_nil_exmp' },
  },
  '/returns/trade': {
    members: {
      'periods[].status': 'gstr1[] or the return tracking of the tax network',
      'periods[].b2b': 'gstr1[].b2b_dtls.b2b[] with this recipient',
      'periods[].b2ba, cdnr': 'in no published example; not claimed by `sections`',
    },
  },
}

function notKnown(error: unknown): null {
  if (error instanceof Refusal) return null
  throw error
}

/** Returns an account with the movements of the request only. */
function between({ account }: HeldAccount, from: string, to: string): HeldAccount['account'] {
  const { startDate, endDate, Transaction } = account.Transactions
  const dayOf = (at: string) => indianDay(Date.parse(/(Z|[+-][0-9]{2}:?[0-9]{2})$/.test(at) ? at : `${at}+05:30`))
  return {
    ...account,
    Transactions: {
      startDate: startDate > from ? startDate : from,
      endDate: endDate < to ? endDate : to,
      Transaction: Transaction.filter(({ transactionTimestamp }) => {
        const day = dayOf(transactionTimestamp)
        return day >= from && day <= to
      }),
    },
  }
}

/** @throws Refusal if a filer changed between monthly and quarterly returns, whose sum cannot be formed */
function filingOf(periods: HeldReturns['gstr1'] | HeldReturns['gstr3b']): 'MONTHLY' | 'QUARTERLY' {
  const kinds = new Set(periods.map(({ filing }) => filing))
  if (kinds.size > 1) throw incomplete()
  return periods[0]?.filing ?? 'MONTHLY'
}

/** Returns the newest 12 months, or the last months of 4 quarters, whose due date has passed. */
function turnoverWindow({ gstr3b }: HeldReturns, nowMs: number): string[] {
  const filing = filingOf(gstr3b)
  const today = indianDay(nowMs)
  const isDue = Number(today.slice(8)) > DUE_DAY[filing]
  const closed = addMonths(today, isDue ? -1 : -2)
  if (filing === 'MONTHLY') return monthsFrom(addMonths(closed, -11), 12)
  const end = quarterOf(closed) === closed ? closed : addMonths(quarterOf(closed), -3)
  return [-9, -6, -3, 0].map((back) => addMonths(end, back))
}

function monthsBetween(from: string, to: string): string[] {
  const months: string[] = []
  for (let month = from; month <= to && months.length <= MAX_MONTHS; month = addMonths(month, 1)) months.push(month)
  if (months.length === 0 || months.length > MAX_MONTHS) throw unparseable()
  return months
}

function yearOf(month: string): string {
  return financialYear(`${month}-01`)
}

function yearsOf(months: readonly string[]): string[] {
  return [...new Set(months.map(yearOf))]
}
