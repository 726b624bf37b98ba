import test from 'ava'
import { against, asks, context, PAN, RECIPIENT, realTime, SUPPLIER } from './against-gateway.ts'
import { ok } from './recording-gateway.ts'

test('a taxpayer status is accepted only for the requested registration', async (t) => {
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

test('turnover is returned per period, and is missing without filings', async (t) => {
  const filled = await against(
    [ok({ gstin: SUPPLIER, periods: [{ period: '2026-10', value: '12.34' }] })],
    asks.outwardSupplies,
    realTime,
  )
  t.deepEqual(filled.result.data?.periods, [{ period: '2026-10', valuePaise: 1234 }])
  const empty = await against([ok({ gstin: SUPPLIER, periods: [] })], asks.outwardSupplies, realTime)
  t.is(empty.result.missingReason, 'NOT_FILED')
})

test('company data, provident fund and security interests are parsed', async (t) => {
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

test('deposit data is parsed by the member names of its schema', async (t) => {
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
      registeredAt: { id: 'RA000548' },
      registeredAs: 'X1',
      jurisdiction: 'CH',
      status: 'ACTIVE',
    },
    registration: { status: 'LAPSED', nextRenewalDate: '2026-01-01T00:00:00Z' },
  },
}

test('accounting parents are read for the requested company number only', async (t) => {
  const parent = { registeredAt: null, registeredAs: null, jurisdiction: 'GB', corroborationLevel: null }
  const data = {
    cin: 'U28999KA2015PTC123456',
    lei: 'L1',
    directParent: null,
    directParentException: 'NO_KNOWN_PERSON',
    ultimateParent: { ...parent, lei: 'P1', relationshipStatus: 'ACTIVE' },
    ultimateParentException: null,
  }
  const ask = (cin: string) => against([ok(data)], (set) => set.groups.fetch(context(), { cin }), realTime)
  const { result, requests } = await ask('U28999KA2015PTC123456')
  t.deepEqual(result.data, { lei: 'L1', directParentLei: null, ultimateParentLei: 'P1' })
  t.is(requests[0]?.url.searchParams.get('cin'), 'U28999KA2015PTC123456')
  t.is((await ask('U28999KA2016PTC654321')).result.missingReason, 'UNPARSEABLE')
})

test('a company outside India is queried by its register and number', async (t) => {
  const data = {
    authority: 'RA000585',
    companyNumber: 'SC123456',
    legalName: 'EXAMPLE LTD',
    status: 'ACTIVE',
    directorIds: ['GB-COH:abc'],
    heldBy: [{ authority: null, companyNumber: '42', minBasisPoints: 7500 }],
    addressHash: null,
    notCompared: ['HOLDING'],
  }
  const ask = (number: string) =>
    against([ok(data)], (set) => set.registryCompanies.fetch(context(), { authority: 'RA000585', number }), realTime)
  const { result, requests } = await ask('sc123456')
  const { addressHash: _address, notCompared: _links, ...company } = data
  t.deepEqual(result.data, company)
  t.is(result.source, 'REGISTRY_COMPANIES')
  t.is(requests[0]?.url.pathname, '/gw/registry-companies/RA000585/sc123456')
  t.is((await ask('SC654321')).result.missingReason, 'UNPARSEABLE')
})

test('a gateway in front of the LEI register receives its token, and its reasons are read', async (t) => {
  const refusal = { status: 429, body: JSON.stringify({ code: 'UPSTREAM_ERROR' }) }
  const { result, requests } = await against([refusal], asks.leiRecords, realTime, { lei: { token: 'lei-token' } })
  t.is(requests[0]?.headers.authorization, 'Bearer lei-token')
  t.is(result.missingReason, 'UPSTREAM_ERROR')
  const late = { status: 408, body: JSON.stringify({ code: 'TIMEOUT' }) }
  t.is((await against([late], asks.leiRecords, realTime)).result.missingReason, 'TIMEOUT')
})

test('an LEI is found by identifier, registration number and name', async (t) => {
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
      registeredAt: 'RA000548',
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
    (set) => set.leiRecords.fetch(context(), { legalName: 'Unknown & Sons' }),
    realTime,
  )
  t.is(none.result.missingReason, 'NOT_FOUND')
  t.is(none.requests[0]?.url.searchParams.get('filter[entity.legalName]'), 'Unknown & Sons')
})
