import type { z } from 'zod'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { addMonths, monthsFrom, parsePaise } from '#shared/risk/packs/money.ts'
import { MISSING_REASONS } from '#shared/risk/registries/connector.ts'
import { AccountsAnswer } from '#shared/risk/registries/http/accounts.ts'
import { CompanyAnswer, PersonAnswer } from '#shared/risk/registries/http/companies.ts'
import { ExporterCodeAnswer } from '#shared/risk/registries/http/foreign-trade.ts'
import { GroupAnswer } from '#shared/risk/registries/http/groups.ts'
import { RegistryCompanyAnswer } from '#shared/risk/registries/http/registry-companies.ts'
import { SecuritySearchAnswer } from '#shared/risk/registries/http/security-interests.ts'
import { OutwardSuppliesAnswer, ProvidentFundAnswer, TaxpayerAnswer } from '#shared/risk/registries/http/taxpayers.ts'
import { TradeReturnsAnswer } from '#shared/risk/registries/http/trade-returns.ts'
import { sha256 } from './rules.ts'

export type Result = 'PASS' | 'FAIL' | 'WARN' | 'SKIP'

export interface Row {
  operation: string
  check: string
  result: Result
  detail: string
}

export interface Identifiers {
  gstin?: string | undefined
  pan?: string | undefined
  pair?: readonly [string, string] | undefined
  iec?: string | undefined
  cin?: string | undefined
  /** code of a register and number there */
  company?: readonly [string, string] | undefined
  consent?: string | undefined
  /** values whose plain SHA-256 a hash must not be */
  known: readonly string[]
}

export interface CheckedRequest {
  method: 'GET' | 'POST'
  path: string
  query: Record<string, string>
  body?: object
}

export interface CheckedOperation {
  name: string
  schema: z.ZodType
  needsConsent?: boolean
  timeoutMs: number
  /** returns the request about an identifier; undefined without one */
  request(ids: Identifiers, nowMs: number): CheckedRequest | undefined
  /** identifiers that are well formed and not assigned */
  unassigned?: (ids: Identifiers) => Identifiers
  /** returns true if the answer is about the requested subject */
  isAbout(data: Data, ids: Identifiers): boolean
  /** further rules about the data of an answer */
  rules?: (data: Data, request: CheckedRequest, ids: Identifiers) => Row[]
}

/** Data of an answer as it was sent, before a schema. */
export type Data = Record<string, unknown>

const FAST_MS = 8000
const SLOW_MS = 15_000

export const UNASSIGNED_PAN = 'ZZZPZ9999Z'
const first14 = `29${UNASSIGNED_PAN}9Z`
export const UNASSIGNED_GSTIN = `${first14}${gstinCheckCharacter(first14) ?? ''}`

const UNASSIGNED_CIN = 'U99999ZZ1900PTC999999'
const UNASSIGNED_NUMBER = 'ZZ999999'

const get = (path: string, query: Record<string, string> = {}): CheckedRequest => ({ method: 'GET', path, query })
const ofGstin = (ids: Identifiers) => ({ ...ids, gstin: UNASSIGNED_GSTIN })
const ofPan = (ids: Identifiers) => ({ ...ids, pan: UNASSIGNED_PAN })

export const OPERATIONS: readonly CheckedOperation[] = [
  {
    name: '/taxpayers/{gstin}',
    schema: TaxpayerAnswer,
    timeoutMs: SLOW_MS,
    request: ({ gstin }) => (gstin === undefined ? undefined : get(`/taxpayers/${gstin}`)),
    unassigned: ofGstin,
    isAbout: (data, { gstin }) => data.gstin === gstin,
  },
  {
    name: '/companies',
    schema: CompanyAnswer,
    timeoutMs: FAST_MS,
    request: ({ pan }) => (pan === undefined ? undefined : get('/companies', { pan })),
    unassigned: ofPan,
    isAbout: (data, { pan }) => data.pan === pan,
  },
  {
    name: '/establishments',
    schema: ProvidentFundAnswer,
    needsConsent: true,
    timeoutMs: FAST_MS,
    request: ({ pan }) => (pan === undefined ? undefined : get('/establishments', { pan })),
    isAbout: (data, { pan }) => data.pan === pan,
  },
  {
    name: '/accounts/deposits',
    schema: AccountsAnswer,
    needsConsent: true,
    timeoutMs: FAST_MS,
    request({ pan }, nowMs) {
      const to = new Date(nowMs - 86_400_000).toISOString().slice(0, 10)
      return pan === undefined ? undefined : get('/accounts/deposits', { pan, from: `${addMonths(to, -7)}-01`, to })
    },
    isAbout: () => true,
    rules: depositRules,
  },
  {
    name: '/returns/outward-supplies',
    schema: OutwardSuppliesAnswer,
    needsConsent: true,
    timeoutMs: SLOW_MS,
    request: ({ gstin }) => (gstin === undefined ? undefined : get('/returns/outward-supplies', { gstin })),
    isAbout: (data, { gstin }) => data.gstin === gstin,
    rules: turnoverRules,
  },
  {
    name: '/returns/trade',
    schema: TradeReturnsAnswer,
    needsConsent: true,
    timeoutMs: SLOW_MS,
    request({ pair }, nowMs) {
      if (!pair) return undefined
      const to = addMonths(new Date(nowMs).toISOString().slice(0, 7), -1)
      const [supplierGstin, recipientGstin] = pair
      return get('/returns/trade', { supplierGstin, recipientGstin, from: addMonths(to, -15), to })
    },
    isAbout: (data, { pair }) => data.gstin === pair?.[0],
    rules: tradeRules,
  },
  {
    name: '/searches/security-interests',
    schema: SecuritySearchAnswer,
    timeoutMs: FAST_MS,
    request: ({ pan }) =>
      pan === undefined
        ? undefined
        : {
            method: 'POST',
            path: '/searches/security-interests',
            query: {},
            body: { searchType: 'SI', debtorPan: pan },
          },
    isAbout: (data) => data.searchType === 'SI',
  },
  {
    name: '/searches/persons',
    schema: PersonAnswer,
    needsConsent: true,
    timeoutMs: FAST_MS,
    request: ({ pan }) =>
      pan === undefined
        ? undefined
        : { method: 'POST', path: '/searches/persons', query: {}, body: { registry: 'PAN', identifier: pan } },
    isAbout: (data) => data.registry === 'PAN',
  },
  {
    name: '/exporter-codes/{iec}',
    schema: ExporterCodeAnswer,
    timeoutMs: FAST_MS,
    request: ({ iec }) => (iec === undefined ? undefined : get(`/exporter-codes/${iec}`)),
    unassigned: (ids) => ({ ...ids, iec: UNASSIGNED_PAN }),
    isAbout: (data, { iec }) => data.iec === iec,
  },
  {
    name: '/groups',
    schema: GroupAnswer,
    timeoutMs: FAST_MS,
    request: ({ cin }) => (cin === undefined ? undefined : get('/groups', { cin })),
    unassigned: (ids) => ({ ...ids, cin: UNASSIGNED_CIN }),
    isAbout: (data, { cin }) => data.cin === cin,
  },
  {
    name: '/registry-companies/{authority}/{number}',
    schema: RegistryCompanyAnswer,
    timeoutMs: FAST_MS,
    request: ({ company }) => (company ? get(`/registry-companies/${company.join('/')}`) : undefined),
    unassigned: (ids) => ({ ...ids, ...(ids.company && { company: [ids.company[0], UNASSIGNED_NUMBER] as const }) }),
    isAbout: (data, { company }) => data.authority === company?.[0] && data.companyNumber === company?.[1],
  },
]

export function row(operation: string, check: string, isGood: boolean, detail = '', bad: Result = 'FAIL'): Row {
  return { operation, check, result: isGood ? 'PASS' : bad, detail: isGood ? '' : detail }
}

function listOf(value: unknown): Data[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'object' && entry !== null) : []
}

function objectOf(value: unknown): Data {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function depositRules(data: Data, { query }: CheckedRequest): Row[] {
  const operation = '/accounts/deposits'
  const accounts = listOf(data.Account)
  const days = accounts
    .flatMap((account) => listOf(objectOf(account.Transactions).Transaction))
    .map((movement) => String(movement.transactionTimestamp).slice(0, 10))
  const outside = days.find((day) => day < (query.from ?? '') || day > (query.to ?? ''))
  const other = accounts.find((account) => account.type !== 'deposit')
  return [
    row(operation, 'G23 movements in range', outside === undefined, `a movement on ${outside}`),
    row(operation, 'G24 deposits only', other === undefined, `an account of type ${String(other?.type)}`),
  ]
}

function turnoverRules(data: Data): Row[] {
  const operation = '/returns/outward-supplies'
  const months = listOf(data.periods).map(({ period }) => String(period))
  const isUnique = new Set(months).size === months.length
  if (!isUnique) return [row(operation, 'G22 months', false, 'a month occurs twice')]
  return [row(operation, 'G22 months', months.length >= 12, `${months.length} of 12 periods`, 'WARN')]
}

function tradeRules(data: Data, { query }: CheckedRequest, { pair }: Identifiers): Row[] {
  const operation = '/returns/trade'
  const periods = listOf(data.periods)
  const months = periods.map(({ fp }) => `${String(fp).slice(2)}-${String(fp).slice(0, 2)}`)
  const isQuarterly = periods.length > 0 && periods.every(({ filing }) => filing === 'QUARTERLY')
  const { from = '', to = '' } = query
  const count =
    (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 + Number(to.slice(5)) - Number(from.slice(5)) + 1
  const all = monthsFrom(from, count)
  const wanted = isQuarterly ? all.filter((month) => Number(month.slice(5)) % 3 === 0) : all
  const missing = wanted.find((month) => months.filter((one) => one === month).length !== 1)
  const outside = months.find((month) => !wanted.includes(month))
  const sections = (period: Data) => ['b2b', 'b2ba', 'cdnr'].flatMap((name) => listOf(period[name]))
  const unfiled = periods.find((period) => period.status !== 'FILED' && sections(period).length > 0)
  const recipients = new Set(periods.flatMap(sections).map(({ ctin }) => ctin))
  recipients.delete(pair?.[1])
  const isEveryMonth = missing === undefined && outside === undefined
  return [
    row(operation, 'G19 each month once', isEveryMonth, `${missing ?? outside} is missing, repeated or outside`),
    row(
      operation,
      'G20 rows only if filed',
      unfiled === undefined,
      `rows in ${String(unfiled?.fp)}, which is not filed`,
    ),
    row(operation, 'G21 one recipient', recipients.size === 0, `rows of ${recipients.size} other recipient(s)`),
  ]
}

const AMOUNTS = ['val', 'value', 'amount', 'currentBalance', 'securedAmount', 'fobInr']
const HASH = /^[0-9a-f]{64}$/
const PERSONAL = /^(.*name|mobile.*|phone|phonenumber|email|emailid|dob|dateofbirth|address|.*address|narration)$/

/** Findings about members anywhere in an answer, and the answer with those members repaired, for the other rules. */
export function scan(value: unknown, known: readonly string[]) {
  const plain = new Set(known.map((text) => sha256(text)))
  const found = {
    amounts: [] as string[],
    hashes: [] as string[],
    plainHashes: [] as string[],
    personal: [] as string[],
  }
  const walk = (node: unknown, name: string): unknown => {
    if (Array.isArray(node)) return node.map((entry) => walk(entry, name))
    if (typeof node === 'object' && node !== null) {
      return Object.fromEntries(
        Object.entries(node).map(([key, member]) => {
          const folded = key.replaceAll('_', '').toLowerCase()
          if (PERSONAL.test(folded) && folded !== 'legalname') found.personal.push(key)
          return [key, walk(member, key)]
        }),
      )
    }
    const isAmount = AMOUNTS.includes(name) && (typeof node === 'string' || typeof node === 'number')
    if (isAmount && parsePaise(node) === undefined) {
      found.amounts.push(name)
      return '0'
    }
    if (/Hash(es)?$/.test(name) && typeof node === 'string') {
      if (plain.has(node)) found.plainHashes.push(name)
      if (!HASH.test(node)) {
        found.hashes.push(name)
        return '0'.repeat(64)
      }
    }
    return node
  }
  return { ...found, repaired: walk(value, '') }
}

export function codeOf(body: Buffer): string | undefined {
  try {
    const { code }: { code?: unknown } = JSON.parse(body.toString('utf8'))
    return MISSING_REASONS.find((reason) => reason === code)
  } catch {
    return undefined
  }
}
