import { z } from 'zod'
import type { IncomingResponse } from '#shared/risk/registries/connector.ts'
import { CompanyAnswer } from '#shared/risk/registries/http/companies.ts'
import { TaxpayerAnswer } from '#shared/risk/registries/http/taxpayers.ts'
import { type Adapter, type Answer, envelopeAnswer, type GatewayRequest, PATTERNS, parameter } from '../adapter.ts'
import { type AccessToken, callProvider, createAccessToken, createLimits, type Provider, type Work } from '../calls.ts'
import {
  dayOrNull,
  filled,
  incomplete,
  keyedHash,
  listOf,
  monthOfPeriod,
  notEntitled,
  notFound,
  parsed,
  parseJson,
  unparseable,
} from '../rules.ts'

export interface SandboxSettings {
  url: string
  key: string
  secret: string
  /** text that the provider requires for company data; without it /companies is off */
  mcaReason: string | undefined
  /** company number by PAN, which the lender keeps */
  companyNumbers: ReadonlyMap<string, string> | undefined
}

/** The tax network's public data about a registration. */
export interface Taxpayers {
  /** @throws Refusal */
  search(gstin: string, work: Work): Promise<{ legalName: string; status: string; registeredOn: string | null }>
  /** Returns the months, YYYY-MM, of a financial year whose return is filed. @throws Refusal */
  filedMonths(gstin: string, year: string, form: 'gstr-1' | 'gstr-3b', work: Work): Promise<string[]>
}

const TOKEN_LIFE_MS = 23 * 3_600_000
const STATUSES = new Map([
  ['Active', 'ACTIVE'],
  ['Suspended', 'SUSPENDED'],
  ['Inactive', 'INACTIVE'],
])
const SEARCH_MEMBERS =
  'adadr ctb ctj ctjCd cxdt dty einvoiceStatus gstin lgnm lstupdt nba pradr rgdt stj stjCd sts tradeNam'.split(' ')

const text = z.string()
const token = z.object({ access_token: filled })
const tokenAnswer = z.union([token, z.object({ data: token }).transform(({ data }) => data)])
const failure = z.object({ status_cd: z.literal('0'), error: z.object({ error_cd: text }) })
const outer = z.object({ data: z.unknown() })
const searchAnswer = z.object({
  status_cd: z.literal('1'),
  data: z.object({ gstin: text, lgnm: filled, sts: text, rgdt: text.nullish() }),
})
const trackAnswer = z.object({
  status_cd: z.literal('1'),
  data: z.object({ EFiledlist: listOf(z.object({ ret_prd: text, rtntype: text, status: text, valid: text })) }),
})
const company = z.object({
  company_master_data: z.object({
    cin: text,
    company_name: filled,
    'company_status(for_efiling)': filled,
    registered_address: text.nullish(),
    email_id: text.nullish(),
  }),
  'directors/signatory_details': z.array(z.object({ 'din/pan': text, end_date: text })),
})

/** Registrations of the tax network and, if configured, company master data. */
export class SandboxAdapter implements Adapter, Taxpayers {
  readonly name = 'sandbox'
  readonly operations: readonly string[]
  readonly mappings = mappings
  readonly #settings: SandboxSettings
  readonly #hashKey: Buffer
  readonly #base: string
  readonly #provider: Provider
  readonly #accessToken: AccessToken

  constructor(settings: SandboxSettings, hashKey: Buffer) {
    this.#settings = settings
    this.#hashKey = hashKey
    this.#base = settings.url.replace(/\/$/, '')
    const isTest = new URL(settings.url).host === 'test-api.sandbox.co.in'
    this.#provider = { adapter: 'sandbox', limits: createLimits(isTest ? 20 : 90), retryAfterSeconds: 60 }
    this.#accessToken = createAccessToken((work) => this.#authenticate(work), {
      lifeMs: TOKEN_LIFE_MS,
      renewOn: [401, 403],
    })
    const isCompanyOn = settings.mcaReason !== undefined && settings.companyNumbers !== undefined
    this.operations = ['/taxpayers/{gstin}', ...(isCompanyOn ? ['/companies'] : [])]
  }

  answer(request: GatewayRequest, work: Work): Promise<Answer> {
    return request.path === '/companies' ? this.#companyMaster(request, work) : this.#taxpayer(request, work)
  }

  health(nowMs: number) {
    const until = this.#accessToken.until()
    return {
      placesLeft: this.#provider.limits.placesLeft(nowMs),
      tokenUntil: until === null ? null : new Date(until).toISOString(),
    }
  }

  async #authenticate(work: Work): Promise<string> {
    const headers = { 'x-api-key': this.#settings.key, 'x-api-secret': this.#settings.secret }
    const url = `${this.#base}/authenticate`
    const response = await callProvider(this.#provider, work, { method: 'POST', url, headers, isEvidence: false })
    if (response.status === 401 || response.status === 403) throw notEntitled()
    if (response.status !== 200) throw incomplete()
    return parsed(tokenAnswer, parseJson(response.body)).access_token
  }

  /** Posts a request; the header that accepts a cached answer, which may be a day old, is never sent. */
  #post(path: string, body: object, work: Work): Promise<IncomingResponse> {
    return this.#accessToken.use(work, (authorization) => {
      const headers = {
        authorization,
        'x-api-key': this.#settings.key,
        'x-api-version': '1.0.0',
        'content-type': 'application/json',
      }
      return callProvider(this.#provider, work, {
        method: 'POST',
        url: `${this.#base}${path}`,
        headers,
        body: JSON.stringify(body),
      })
    })
  }

  async #network<Schema extends z.ZodType>(
    schema: Schema,
    none: string,
    call: Promise<IncomingResponse>,
  ): Promise<z.output<Schema> | 'NONE'> {
    const response = await call
    if (response.status !== 200) throw incomplete()
    const { data } = parsed(outer, parseJson(response.body))
    const failed = failure.safeParse(data)
    if (!failed.success) return parsed(schema, data)
    if (failed.data.error.error_cd === none) return 'NONE'
    throw incomplete()
  }

  async search(gstin: string, work: Work) {
    const found = await this.#network(
      searchAnswer,
      'FO8000',
      this.#post('/gst/compliance/public/gstin/search', { gstin }, work),
    )
    if (found === 'NONE') throw notFound()
    const { data } = found
    if (data.gstin.toUpperCase() !== gstin) throw unparseable('data.gstin')
    return { legalName: data.lgnm, status: statusOf(data.sts), registeredOn: dayOrNull(data.rgdt, 'data.rgdt') }
  }

  async filedMonths(gstin: string, year: string, form: 'gstr-1' | 'gstr-3b', work: Work): Promise<string[]> {
    const path = `/gst/compliance/public/gstrs/track?financial_year=FY%20${year}&gstr=${form}`
    const found = await this.#network(trackAnswer, 'RET13510', this.#post(path, { gstin }, work))
    if (found === 'NONE') return []
    const type = form.replace('-', '').toUpperCase()
    return found.data.EFiledlist.filter(
      (row) => row.rtntype === type && row.status === 'Filed' && row.valid === 'Y',
    ).map((row) => monthOfPeriod(row.ret_prd, 'data.EFiledlist.ret_prd'))
  }

  async #taxpayer(request: GatewayRequest, work: Work): Promise<Answer> {
    const gstin = request.path.slice('/taxpayers/'.length)
    if (!PATTERNS.gstin.test(gstin)) throw unparseable()
    const data = { gstin, ...(await this.search(gstin, work)) }
    return envelopeAnswer(TaxpayerAnswer, work, { asOf: null, consent: null, data })
  }

  async #companyMaster(request: GatewayRequest, work: Work): Promise<Answer> {
    const pan = parameter(request, 'pan', PATTERNS.pan)
    const cin = this.#settings.companyNumbers?.get(pan) ?? request.query.cin
    // Without a number the register is not queried, so NOT_FOUND would be false.
    if (cin === undefined || this.#settings.mcaReason === undefined || !PATTERNS.cin.test(cin)) throw notEntitled()
    const body = {
      '@entity': 'in.co.sandbox.kyc.mca.master_data.request',
      id: cin,
      consent: 'Y',
      reason: this.#settings.mcaReason,
    }
    const response = await this.#post('/mca/company/master-data/search', body, work)
    if (response.status === 422) throw notFound()
    if (response.status !== 200) throw incomplete()
    const { data } = parsed(z.object({ data: company }), parseJson(response.body))
    const master = data.company_master_data
    if (master.cin.toUpperCase() !== cin) throw unparseable('data.company_master_data.cin')
    const directorIds = data['directors/signatory_details']
      .filter((row) => row.end_date === '-' && /^[0-9]{8}$/.test(row['din/pan']))
      .map((row) => row['din/pan'])
    if (directorIds.length === 0) throw unparseable('data.directors/signatory_details')
    const email = keyedHash(this.#hashKey, 'email', master.email_id)
    const addressHash = keyedHash(this.#hashKey, 'address', master.registered_address)
    const notCompared = ['HOLDING', 'BANK_ACCOUNT', 'PHONE']
    if (addressHash === null) notCompared.push('ADDRESS')
    if (email === null) notCompared.push('EMAIL')
    return envelopeAnswer(CompanyAnswer, work, {
      asOf: null,
      consent: null,
      data: {
        pan,
        companyNumber: cin,
        legalName: master.company_name,
        status: master['company_status(for_efiling)'].toUpperCase(),
        directorIds,
        addressHash,
        emailHashes: email === null ? [] : [email],
        notCompared,
      },
    })
  }
}

const mappings: Adapter['mappings'] = {
  '/taxpayers/{gstin}': {
    members: {
      gstin: 'data.data.gstin',
      legalName: 'data.data.lgnm',
      status: 'data.data.sts',
      registeredOn: 'data.data.rgdt',
      otherGstins: 'not queried: the search by PAN costs a call for each state',
      asOf: 'the answer states no date of its data',
    },
    known: SEARCH_MEMBERS,
    at: ['data', 'data'],
  },
  '/companies': {
    members: {
      companyNumber: 'data.company_master_data.cin',
      legalName: 'data.company_master_data.company_name',
      status: 'data.company_master_data.company_status(for_efiling)',
      directorIds: 'data.directors/signatory_details[].din/pan',
      addressHash: 'data.company_master_data.registered_address',
      emailHashes: 'data.company_master_data.email_id',
    },
    known: ['company_master_data', 'charges', 'directors/signatory_details'],
    at: ['data'],
  },
}

function statusOf(word: string): string {
  const status = word.startsWith('Cancelled') ? 'CANCELLED' : STATUSES.get(word.trim())
  if (status === undefined) throw unparseable('data.sts')
  return status
}
