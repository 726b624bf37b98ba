import { createHash } from 'node:crypto'
import test from 'ava'
import { createBreakers } from '#shared/risk/registries/breaker.ts'
import type { RegistryContext, RegistryDeps, RegistryResult } from '#shared/risk/registries/connector.ts'
import { createRegistrySet, type RegistryConfig, type RegistrySet } from '#shared/risk/registries/registry-set.ts'
import { type Answer, fetchRequest, ok, recordingGateway, refused } from './recording-gateway.ts'
import { VirtualClock } from './virtual-clock.ts'

const SUPPLIER = '29AAACR5678D1Z5'
const RECIPIENT = '27AAACB1234C1ZF'
const PAN = 'AAACR5678D'
const START = Date.parse('2026-11-21T06:30:00.000Z')

const consent = { handle: 'consent-1', id: null, purposeCode: null, expiresAt: null }

function context(changes: Partial<RegistryContext> = {}): RegistryContext {
  return {
    env: 'PRODUCTION',
    orgId: 'org-1',
    consent,
    deadline: START + 20_000,
    signal: new AbortController().signal,
    requestId: 'request-1',
    ...changes,
  }
}

const asks = {
  tradeReturns: (set: RegistrySet, ctx = context()) =>
    set.tradeReturns.fetch(ctx, { supplierGstin: SUPPLIER, recipientGstin: RECIPIENT, from: '2025-11', to: '2026-10' }),
  outwardSupplies: (set: RegistrySet, ctx = context()) => set.outwardSupplies.fetch(ctx, { gstin: SUPPLIER }),
  taxpayerStatus: (set: RegistrySet, ctx = context()) => set.taxpayerStatus.fetch(ctx, { gstin: SUPPLIER }),
  companyMaster: (set: RegistrySet, ctx = context()) => set.companyMaster.fetch(ctx, { pan: PAN }),
  providentFund: (set: RegistrySet, ctx = context()) => set.providentFund.fetch(ctx, { pan: PAN }),
  securityInterests: (set: RegistrySet, ctx = context()) =>
    set.securityInterests.fetch(ctx, { pan: PAN, searchType: 'SI' }),
  accounts: (set: RegistrySet, ctx = context()) =>
    set.accounts.fetch(ctx, { pan: PAN, from: '2026-04-01', to: '2026-11-20' }),
  leiRecords: (set: RegistrySet, ctx = context()) => set.leiRecords.fetch(ctx, { lei: '506700GE1G29325QX363' }),
}

/** The set of connectors against one recording server. */
async function against<T>(
  answers: Answer[],
  ask: (set: RegistrySet) => Promise<RegistryResult<T>>,
  clock: Pick<RegistryDeps, 'now' | 'sleep'> = new VirtualClock(START),
) {
  await using gateway = await recordingGateway(answers)
  const at = { url: gateway.url, token: 'token-1' }
  const config: RegistryConfig = {
    taxReturns: at,
    taxpayers: at,
    companies: at,
    providentFund: at,
    securityInterests: at,
    accounts: at,
    lei: { url: gateway.url },
  }
  const set = createRegistrySet(config, { http: fetchRequest, random: () => 0.5, ...clock }, createBreakers())
  return { result: await ask(set), requests: gateway.requests }
}

// The real clock where a real server answers at once: the virtual one would jump over the time the socket needs.
const realTime = {
  now: () => START,
  sleep: (delayMs: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delayMs)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

const tradeData = {
  statement: 'GSTR1',
  gstin: SUPPLIER,
  periods: [
    {
      fp: '102026',
      filing: 'MONTHLY',
      status: 'FILED',
      filedOn: '11-11-2026',
      b2b: [
        {
          ctin: RECIPIENT,
          inv: [{ inum: 'INV/1', idt: '05-10-2026', val: 118000.5, pos: '27', rchrg: 'N', irn: 'a'.repeat(64) }],
        },
        { ctin: '07AABCT9012E2ZL', inv: [{ inum: 'INV/2', idt: '06-10-2026', val: 1 }] },
      ],
      b2ba: [
        {
          ctin: RECIPIENT,
          inv: [{ oinum: 'INV/0', oidt: '01-09-2026', inum: 'INV/0A', idt: '02-09-2026', val: '7.10' }],
        },
      ],
      cdnr: [{ ctin: RECIPIENT, nt: [{ ntty: 'C', nt_num: 'CN/1', nt_dt: '20-10-2026', val: 18000 }] }],
    },
    { fp: '112025', filing: 'MONTHLY', status: 'NOT_FILED' },
  ],
}

test('tax returns are read from the rows of Table 4, to the paisa', async (t) => {
  const { result, requests } = await against([ok(tradeData)], asks.tradeReturns, realTime)
  t.is(result.status, 'OK')
  t.is(result.source, 'GSTR1_TABLE4')
  t.is(result.tier, 'REGISTRY_VERIFIED')
  t.is(result.asOf, '2026-11-20T17:30:00.000Z')
  t.is(result.observedAt, '2026-11-21T06:30:00.000Z')
  t.deepEqual(result.consent, consent)
  t.is(result.attempts, 1)
  t.is(
    result.rawSha256,
    createHash('sha256')
      .update(JSON.stringify({ asOf: '2026-11-20T23:00:00+05:30', data: tradeData }))
      .digest('hex'),
  )
  t.deepEqual(result.data?.invoices, [
    { period: '2026-10', number: 'INV/1', date: '2026-10-05', valuePaise: 11_800_050, irn: 'a'.repeat(64) },
  ])
  t.deepEqual(result.data?.amendments, [
    {
      period: '2026-10',
      number: 'INV/0A',
      date: '2026-09-02',
      valuePaise: 710,
      irn: null,
      originalNumber: 'INV/0',
      originalDate: '2026-09-01',
    },
  ])
  t.deepEqual(result.data?.notes, [
    { period: '2026-10', kind: 'CREDIT', number: 'CN/1', date: '2026-10-20', valuePaise: 1_800_000 },
  ])
  t.deepEqual(result.data?.periods[1], { period: '2025-11', filing: 'MONTHLY', status: 'NOT_FILED' })
  const [request] = requests
  t.is(request?.url.pathname, '/gw/returns/trade')
  t.is(request?.url.searchParams.get('recipientGstin'), RECIPIENT)
  t.is(request?.headers.authorization, 'Bearer token-1')
  t.is(request?.headers['x-consent-handle'], 'consent-1')
  t.is(request?.headers['x-request-id'], 'request-1')
})

test('rows of the recipient’s statement say so', async (t) => {
  const { result } = await against([ok({ ...tradeData, statement: 'GSTR2B' })], asks.tradeReturns, realTime)
  t.is(result.source, 'GSTR2B_B2B')
})

test('the consent that the registry states is the one recorded', async (t) => {
  const stated = { handle: 'consent-1', id: 'c-77', purposeCode: '104', expiresAt: '2027-01-01T00:00:00+05:30' }
  const body = JSON.stringify({ asOf: null, consent: stated, data: tradeData })
  const { result } = await against([{ status: 200, body }], asks.tradeReturns, realTime)
  t.deepEqual(result.consent, { ...stated, expiresAt: '2026-12-31T18:30:00.000Z' })
})

const malformed: [string, Answer][] = [
  ['no JSON', { status: 200, body: '<html>' }],
  ['half a document', { status: 200, body: '{"asOf": null, "data": {' }],
  ['another shape', ok({ rows: [] })],
  ['another taxpayer', ok({ ...tradeData, gstin: RECIPIENT })],
  [
    'a third of a paisa',
    ok({
      ...tradeData,
      periods: [
        {
          ...tradeData.periods[0],
          cdnr: [],
          b2ba: [],
          b2b: [{ ctin: RECIPIENT, inv: [{ inum: '1', idt: '05-10-2026', val: 1.005 }] }],
        },
      ],
    }),
  ],
  [
    'a date that does not exist',
    ok({
      ...tradeData,
      periods: [
        {
          ...tradeData.periods[0],
          cdnr: [],
          b2ba: [],
          b2b: [{ ctin: RECIPIENT, inv: [{ inum: '1', idt: '31-02-2026', val: 1 }] }],
        },
      ],
    }),
  ],
  ['an empty body', { status: 200, body: '' }],
]
for (const [what, answer] of malformed) {
  test(`an answer with ${what} is unparseable, asked once and hashed`, async (t) => {
    const { result, requests } = await against([answer], asks.tradeReturns, realTime)
    t.is(result.status, 'MISSING')
    t.is(result.missingReason, 'UNPARSEABLE')
    t.is(result.data, null)
    t.regex(result.rawSha256 ?? '', /^[0-9a-f]{64}$/)
    t.is(requests.length, 1)
  })
}

const refusals: [Answer, string, string][] = [
  [refused(403, 'CONSENT_REVOKED'), 'MISSING', 'CONSENT_REVOKED'],
  [refused(403, 'CONSENT_EXPIRED'), 'MISSING', 'CONSENT_EXPIRED'],
  [refused(404, 'NOT_FILED'), 'MISSING', 'NOT_FILED'],
  [{ status: 404, body: '' }, 'MISSING', 'NOT_FOUND'],
  [{ status: 401, body: 'no' }, 'MISSING', 'NOT_ENTITLED'],
  [refused(422, 'SOMETHING_ELSE'), 'ERROR', 'UPSTREAM_ERROR'],
  [{ status: 429, body: '{}' }, 'ERROR', 'UPSTREAM_ERROR'],
  [{ status: 302, body: '' }, 'ERROR', 'UPSTREAM_ERROR'],
]
for (const [answer, status, reason] of refusals) {
  test(`a refusal ${JSON.stringify(answer)} is ${status}/${reason} and not asked again`, async (t) => {
    const { result, requests } = await against([answer], asks.tradeReturns, realTime)
    t.is<string, string>(result.status, status)
    t.is(result.missingReason, reason as typeof result.missingReason)
    t.is(requests.length, 1)
  })
}

// The pauses between attempts are real time outs of the clock, shortened; the answers are the server's.
const quick = { now: () => START, sleep: (_ms: number, signal: AbortSignal) => realTime.sleep(5000, signal) }
const noPause = (clock: typeof realTime) => ({
  ...clock,
  sleep: (delayMs: number, signal: AbortSignal) => (delayMs < 2000 ? Promise.resolve() : quick.sleep(delayMs, signal)),
})

test('a failing registry is asked three times and may recover', async (t) => {
  const failing: Answer = { status: 503, body: '{"code":"NOT_FOUND"}' }
  const recovered = await against([failing, failing, ok(tradeData)], asks.tradeReturns, noPause(realTime))
  t.is(recovered.result.status, 'OK')
  t.is(recovered.result.attempts, 3)
  const failed = await against([failing], asks.tradeReturns, noPause(realTime))
  t.is(failed.result.status, 'ERROR')
  t.is(failed.result.missingReason, 'UPSTREAM_ERROR')
  t.is(failed.requests.length, 3)
})

test('a connection that breaks is an upstream error, asked once', async (t) => {
  const { result, requests } = await against(['RESET'], asks.taxpayerStatus, realTime)
  t.is(result.missingReason, 'UPSTREAM_ERROR')
  t.is(result.rawSha256, null)
  t.is(requests.length, 1)
})

test('a registry that never answers is late inside the budget of the pack', async (t) => {
  const clock = new VirtualClock(START)
  const { result } = await against(['HANG'], asks.taxpayerStatus, clock)
  t.is(result.status, 'MISSING')
  t.is(result.missingReason, 'TIMEOUT')
  t.true(clock.now() - START <= 20_000)
  t.is(clock.sleeps[0], 15_000)
})

test('nobody is contacted without consent, with an expired one, or after the budget', async (t) => {
  const { consent: _given, ...bare } = context()
  const expired = context({ consent: { ...consent, expiresAt: '2026-11-21T06:30:00.000Z' } })
  for (const [ctx, reason] of [
    [bare, 'NO_CONSENT'],
    [expired, 'CONSENT_EXPIRED'],
    [context({ deadline: START }), 'TIMEOUT'],
    [context({ signal: AbortSignal.abort() }), 'TIMEOUT'],
  ] as const) {
    const { result, requests } = await against([ok(tradeData)], (set) => asks.tradeReturns(set, ctx), realTime)
    t.is(result.missingReason, reason)
    t.is(requests.length, 0)
  }
})

test('a taxpayer’s status is read, and somebody else’s is not', async (t) => {
  const data = { gstin: SUPPLIER, legalName: 'X', status: 'CANCELLED', registeredOn: '2019-07-01', extra: 1 }
  const { result, requests } = await against([ok(data)], asks.taxpayerStatus, realTime)
  t.deepEqual(result.data, {
    gstin: SUPPLIER,
    legalName: 'X',
    status: 'CANCELLED',
    registeredOn: '2019-07-01',
    otherGstins: [],
  })
  t.is(requests[0]?.url.pathname, `/gw/taxpayers/${SUPPLIER}`)
  const other = await against([ok({ ...data, gstin: RECIPIENT })], asks.taxpayerStatus, realTime)
  t.is(other.result.missingReason, 'UNPARSEABLE')
})

test('turnover is summed by whoever asks; nothing filed is missing', async (t) => {
  const filled = await against(
    [ok({ gstin: SUPPLIER, periods: [{ period: '2026-10', value: '12.34' }] })],
    asks.outwardSupplies,
    realTime,
  )
  t.deepEqual(filled.result.data?.periods, [{ period: '2026-10', valuePaise: 1234 }])
  const empty = await against([ok({ gstin: SUPPLIER, periods: [] })], asks.outwardSupplies, realTime)
  t.is(empty.result.missingReason, 'NOT_FILED')
})

test('company data, provident fund and security interests are read', async (t) => {
  const company = await against(
    [ok({ pan: PAN, companyNumber: null, legalName: 'X', status: 'ACTIVE', directorIds: ['01234567'] })],
    asks.companyMaster,
    realTime,
  )
  t.deepEqual(company.result.data?.directorIds, ['01234567'])
  const fund = await against(
    [ok({ pan: PAN, establishmentId: 'E1', wageMonth: '2026-10', activeMembers: 118 })],
    asks.providentFund,
    realTime,
  )
  t.is(fund.result.data?.activeMembers, 118)
  const interest = {
    securityInterestId: '400012345678',
    assetCategory: 'RECEIVABLES',
    coversReceivables: true,
    createdOn: '2026-01-02',
    securedAmount: '2500000.50',
    chargeHolderType: 'BANK',
    active: true,
  }
  const search = await against(
    [ok({ searchType: 'SI', searchedAt: '2026-11-21T12:00:00+05:30', interests: [interest] })],
    asks.securityInterests,
    realTime,
  )
  t.is(search.result.source, 'CERSAI')
  t.is(search.result.data?.searchedAt, '2026-11-21T06:30:00.000Z')
  t.is(search.result.data?.interests[0]?.securedAmountPaise, 250_000_050)
  t.deepEqual(JSON.parse(search.requests[0]?.body ?? ''), { searchType: 'SI', debtorPan: PAN })
})

test('deposit data is read in the member names of its schema', async (t) => {
  const account = {
    type: 'deposit',
    maskedAccNumber: 'XXXX1234',
    linkedAccRef: 'ref-1',
    Summary: { currentBalance: '1200.50', currency: 'INR', type: 'CURRENT', facility: 'OD' },
    Transactions: {
      startDate: '2026-04-01',
      endDate: '2026-11-20',
      Transaction: [
        {
          type: 'DEBIT',
          mode: 'UPI',
          amount: '10.00',
          currentBalance: '90.00',
          transactionTimestamp: '2026-10-01T23:59:00',
        },
        {
          type: 'CREDIT',
          mode: 'FT',
          amount: '5',
          currentBalance: '95.5',
          transactionTimestamp: '2026-10-02T00:00:00+05:30',
        },
      ],
    },
  }
  const { result } = await against(
    [ok({ Account: [account, { ...account, type: 'term-deposit' }] })],
    asks.accounts,
    realTime,
  )
  t.deepEqual(result.data?.accounts, [
    {
      ref: 'ref-1',
      type: 'CURRENT',
      facility: 'OD',
      currentBalancePaise: 120_050,
      from: '2026-04-01',
      to: '2026-11-20',
      transactions: [
        { at: '2026-10-01T18:29:00.000Z', signedPaise: -1000, balancePaise: 9000 },
        { at: '2026-10-01T18:30:00.000Z', signedPaise: 500, balancePaise: 9550 },
      ],
    },
  ])
})

const leiRecord = {
  type: 'lei-records',
  id: '506700GE1G29325QX363',
  attributes: {
    lei: '506700GE1G29325QX363',
    entity: {
      legalName: { name: 'Example Foundation', language: 'en' },
      registeredAs: 'X1',
      jurisdiction: 'CH',
      status: 'ACTIVE',
    },
    registration: { status: 'LAPSED', nextRenewalDate: '2026-01-01T00:00:00Z' },
  },
}

test('an identifier is resolved by itself, by registration number and by name', async (t) => {
  const meta = { goldenCopy: { publishDate: '2026-11-20T16:00:00Z' } }
  const one = await against(
    [{ status: 200, body: JSON.stringify({ meta, data: leiRecord }) }],
    asks.leiRecords,
    realTime,
  )
  t.deepEqual(one.result.data, [
    {
      lei: '506700GE1G29325QX363',
      legalName: 'Example Foundation',
      jurisdiction: 'CH',
      entityStatus: 'ACTIVE',
      registrationStatus: 'LAPSED',
      registeredAs: 'X1',
      nextRenewalDate: '2026-01-01T00:00:00Z',
    },
  ])
  t.is(one.result.asOf, '2026-11-20T16:00:00.000Z')
  t.is(one.requests[0]?.url.pathname, '/gw/lei-records/506700GE1G29325QX363')
  const body = JSON.stringify({ meta, data: [leiRecord] })
  const many = await against(
    [{ status: 200, body }],
    (set) => set.leiRecords.fetch(context(), { registeredAs: 'X1' }),
    realTime,
  )
  t.is(many.requests[0]?.url.searchParams.get('filter[entity.registeredAs]'), 'X1')
  t.is(many.result.data?.length, 1)
  const none = await against(
    [{ status: 200, body: JSON.stringify({ data: [] }) }],
    (set) => set.leiRecords.fetch(context(), { legalName: 'Nobody & Sons' }),
    realTime,
  )
  t.is(none.result.missingReason, 'NOT_FOUND')
  t.is(none.requests[0]?.url.searchParams.get('filter[entity.legalName]'), 'Nobody & Sons')
})

for (const [name, ask] of Object.entries(asks)) {
  test(`${name} that nobody configured is MISSING/NOT_ENTITLED`, async (t) => {
    const http = () => Promise.reject(new Error('nothing may be contacted'))
    const set = createRegistrySet({}, { http, random: () => 0.5, ...realTime }, createBreakers())
    const result: RegistryResult<unknown> = await ask(set)
    t.is(result.status, 'MISSING')
    t.is(result.missingReason, 'NOT_ENTITLED')
    t.is(result.attempts, 0)
  })
}
