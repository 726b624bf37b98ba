import test from 'ava'
import { accountCashflow } from '#shared/risk/packs/signals/account-cashflow.ts'
import {
  doubleFinancing,
  type RegistryFindings,
  type RegistryMatch,
} from '#shared/risk/packs/signals/double-financing.ts'
import { relatedParty } from '#shared/risk/packs/signals/related-party.ts'
import { returnWindow } from '#shared/risk/packs/signals/return-window.ts'
import { ledgerWindow } from '#shared/risk/packs/signals/trade-ledger.ts'
import { tradeRelationship } from '#shared/risk/packs/signals/trade-relationship.ts'
import type { CompanyMaster, SecuritySearch, TradeLedger } from '#shared/risk/registries/registry-data.ts'

const at = (instant: string) => Date.parse(instant)

for (const [instant, filing, first, last] of [
  ['2026-11-11T18:29:59Z', 'MONTHLY', '2025-10', '2026-09'],
  ['2026-11-11T18:30:00Z', 'MONTHLY', '2025-11', '2026-10'],
  ['2026-10-13T12:00:00Z', 'QUARTERLY', '2025-07', '2026-06'],
  ['2026-10-14T12:00:00Z', 'QUARTERLY', '2025-10', '2026-09'],
  ['2026-12-20T12:00:00Z', 'QUARTERLY', '2025-10', '2026-09'],
  ['2027-01-05T12:00:00Z', 'MONTHLY', '2025-12', '2026-11'],
] as const) {
  test(`at ${instant} the last twelve due ${filing} months are ${first} to ${last}`, (t) => {
    const months = returnWindow(at(instant), filing)
    t.is(months.length, 12)
    t.deepEqual([months[0], months.at(-1)], [first, last])
  })
}

const observed = at('2026-11-21T06:30:00Z')

function ledger(changes: Partial<TradeLedger>): TradeLedger {
  const periods = returnWindow(observed).map((period) => ({
    period,
    filing: 'MONTHLY' as const,
    status: 'FILED' as const,
  }))
  return {
    source: 'GSTR1_TABLE4',
    supplierGstin: 'S',
    recipientGstin: 'R',
    periods,
    invoices: [],
    amendments: [],
    notes: [],
    ...changes,
  }
}

const invoice = (period: string, number: string, valuePaise: number, date = `${period}-05`) => ({
  period,
  number,
  date,
  valuePaise,
  irn: null,
})

test('a document number is unique per year, ignoring case', (t) => {
  const window = ledgerWindow(
    ledger({
      invoices: [
        invoice('2026-05', 'inv/1', 100),
        invoice('2026-06', 'INV/1', 100, '2026-05-05'),
        invoice('2026-03', 'INV/1', 7),
      ],
    }),
    observed,
  )
  t.is(window.invoices.length, 2)
  t.is(window.totalPaise, 107)
})

test('an amendment replaces its original in the original period', (t) => {
  const amendment = {
    ...invoice('2026-08', 'A/2', 900, '2026-05-06'),
    originalNumber: 'A/1',
    originalDate: '2026-05-05',
  }
  const window = ledgerWindow(ledger({ invoices: [invoice('2026-05', 'A/1', 100)], amendments: [amendment] }), observed)
  t.is(window.invoices.length, 1)
  t.is(window.monthlyPaise[window.months.indexOf('2026-05')], 900)
  t.is(window.monthlyPaise[window.months.indexOf('2026-08')], 0)
})

test('an amendment of a document before the window is ignored', (t) => {
  const amendment = {
    ...invoice('2026-08', 'A/2', 900, '2025-02-06'),
    originalNumber: 'A/1',
    originalDate: '2025-02-05',
  }
  t.is(ledgerWindow(ledger({ amendments: [amendment] }), observed).invoices.length, 0)
})

test('notes change the total but not the count; totals are not negative', (t) => {
  const note = (kind: 'CREDIT' | 'DEBIT', number: string, valuePaise: number) => ({
    period: '2026-06',
    kind,
    number,
    date: '2026-06-07',
    valuePaise,
  })
  const invoices = [invoice('2026-05', 'A/1', 100)]
  const both = ledgerWindow(ledger({ invoices, notes: [note('DEBIT', 'D1', 30), note('CREDIT', 'C1', 50)] }), observed)
  t.is(both.totalPaise, 80)
  t.is(both.invoices.length, 1)
  t.is(both.monthlyPaise[both.months.indexOf('2026-06')], -20)
  t.is(ledgerWindow(ledger({ invoices, notes: [note('CREDIT', 'C1', 500)] }), observed).totalPaise, 0)
})

test('an unfiled period is null, and a filed one without rows is zero', (t) => {
  const periods = ledger({}).periods.map((entry, slot) =>
    slot === 3 ? { ...entry, status: 'NOT_FILED' as const } : entry,
  )
  const window = ledgerWindow(ledger({ periods }), observed)
  t.is(window.monthlyPaise[3], null)
  t.is(window.monthlyPaise[4], 0)
  t.is(window.filedMonths, 11)
})

test('rows of a quarterly return belong to the months of their dates', (t) => {
  const periods = ['2025-12', '2026-03', '2026-06', '2026-09'].map((period) => ({
    period,
    filing: 'QUARTERLY' as const,
    status: 'FILED' as const,
  }))
  const invoices = [invoice('2026-06', 'A', 100, '2026-04-10'), invoice('2026-06', 'B', 200, '2026-06-10')]
  const window = ledgerWindow(ledger({ periods, invoices }), observed)
  t.is(window.filedMonths, 12)
  t.is(window.monthlyPaise[window.months.indexOf('2026-04')], 100)
  t.is(window.monthlyPaise[window.months.indexOf('2026-06')], 200)
  t.is(window.monthlyPaise[window.months.indexOf('2026-05')], 0)
})

const legInput = { counterpartyGstin: 'R', observedAtMs: observed, isBothActive: true, isConsentLive: true }

test('a verified relationship requires a live consent, active registrations and nine filed periods', (t) => {
  const invoices = [invoice('2026-05', 'A/1', 100)]
  const unfiled = (count: number) =>
    ledger({
      invoices,
      periods: ledger({}).periods.map((entry, slot) => (slot < count ? { ...entry, status: 'NOT_FILED' } : entry)),
    })
  t.true(tradeRelationship({ ...legInput, ledger: unfiled(3) }).leg.verified)
  t.false(tradeRelationship({ ...legInput, ledger: unfiled(4) }).leg.verified)
  t.false(tradeRelationship({ ...legInput, ledger: unfiled(0), isConsentLive: false }).leg.verified)
  t.false(tradeRelationship({ ...legInput, ledger: unfiled(0), isBothActive: false }).leg.verified)
})

test('counts without a filed period are missing, not zero', (t) => {
  const periods = ledger({}).periods.map((entry) => ({ ...entry, status: 'NOT_FILED' as const }))
  const { leg } = tradeRelationship({ ...legInput, ledger: ledger({ periods }) })
  t.is(leg.invoiceCount, null)
  t.is(leg.trend, null)
})

const search = (interests: SecuritySearch['interests']): SecuritySearch => ({
  searchType: 'SI',
  searchedAt: '2026-11-21T06:30:00.000Z',
  interests,
})
const charge = {
  securityInterestId: '400000000001',
  assetCategory: 'RECEIVABLES',
  coversReceivables: true,
  createdOn: '2026-01-01',
  securedAmountPaise: 100,
  chargeHolderType: 'BANK',
  active: true,
}
const match = (changes: Partial<RegistryMatch>): RegistryMatch => ({
  class: 'EXACT',
  state: 'REGISTERED',
  ownRegistration: false,
  firstSeenMonth: '2026-10',
  ...changes,
})
const answered = (...matches: RegistryMatch[]): RegistryFindings => ({ status: 'ANSWERED', matches })

for (const [description, registry, found, status] of [
  ['nothing found anywhere', answered(), search([]), 'CLEAN'],
  ['an own earlier registration', answered(match({ ownRegistration: true, state: 'FINANCED' })), search([]), 'CLEAN'],
  ['exact, financed', answered(match({}), match({ state: 'FINANCED' })), search([charge]), 'DUPLICATE_FINANCED'],
  ['exact, registered', answered(match({})), null, 'DUPLICATE_REGISTERED'],
  ['a charge and a near match', answered(match({ class: 'NEAR' })), search([charge]), 'CHARGE_FOUND'],
  ['a near match and no search', answered(match({ class: 'NEAR' })), null, 'POSSIBLE_MATCH'],
  [
    'a near match marked financed',
    answered(match({ class: 'ECONOMIC', state: 'FINANCED' })),
    search([]),
    'POSSIBLE_MATCH',
  ],
  ['no search', answered(), null, 'UNRESOLVED'],
  ['no first-financing registry', { status: 'UNAVAILABLE' }, search([]), 'UNRESOLVED'],
  ['a satisfied charge', answered(), search([{ ...charge, active: false }]), 'CLEAN'],
  ['a charge on something else', answered(), search([{ ...charge, coversReceivables: false }]), 'CLEAN'],
] as const) {
  test(`double financing: ${description} is ${status}`, (t) =>
    t.is(doubleFinancing(registry, found, 'CERSAI').status, status))
}

const company = (pan: string, changes: Partial<CompanyMaster> = {}): CompanyMaster => ({
  pan,
  companyNumber: null,
  legalName: pan,
  status: 'ACTIVE',
  directorIds: [`d-${pan}`],
  holdings: [],
  addressHash: `a-${pan}`,
  bankAccountHashes: [],
  phoneHashes: [],
  emailHashes: [],
  ...changes,
})
const parties = (changes: Partial<CompanyMaster>) => [
  { pan: 'A', company: company('A') },
  { pan: 'B', company: company('B', changes) },
  { pan: 'C', company: company('C') },
]

for (const [description, list, finding] of [
  ['one PAN twice', [...parties({}), { pan: 'A', company: null }], 'SAME_LEGAL_ENTITY'],
  ['a shared director', parties({ directorIds: ['d-C'] }), 'RELATED'],
  ['a holding of 20 %', parties({ holdings: [{ pan: 'A', basisPoints: 2000 }] }), 'RELATED'],
  ['a holding just below', parties({ holdings: [{ pan: 'A', basisPoints: 1999 }] }), 'NONE_FOUND'],
  ['a shared address', parties({ addressHash: 'a-A' }), 'POSSIBLE'],
  ['nothing shared', parties({}), 'NONE_FOUND'],
  ['data missing for one', [...parties({}), { pan: 'D', company: null }], 'MISSING'],
  ['a link although data is missing', [...parties({ directorIds: ['d-C'] }), { pan: 'D', company: null }], 'RELATED'],
] as const) {
  test(`related party: ${description} is ${finding}`, (t) => t.is(relatedParty(list).finding, finding))
}

const group = (lei: string, directParentLei: string | null, ultimateParentLei: string | null) => ({
  lei,
  directParentLei,
  ultimateParentLei,
})

for (const [description, one, other, finding] of [
  ['one ultimate parent', group('L1', 'P1', 'U'), group('L2', 'P2', 'U'), 'RELATED'],
  ['a party that is the parent', group('L1', null, null), group('L2', 'L1', 'L1'), 'RELATED'],
  ['no parents', group('L1', null, null), group('L2', null, null), 'NONE_FOUND'],
] as const) {
  test(`related party: groups with ${description} are ${finding}`, (t) => {
    const [a, b] = [
      { pan: 'A', company: company('A'), group: one },
      { pan: 'B', company: company('B'), group: other },
    ]
    t.is(relatedParty([a, b]).finding, finding)
  })
}

test('a related-party check names the kinds of links that a source cannot show', (t) => {
  const limited = relatedParty(parties({ notCompared: ['HOLDING', 'PHONE'] }))
  t.deepEqual([limited.finding, limited.notCompared], ['NONE_FOUND', ['HOLDING', 'PHONE']])
  t.is(relatedParty(parties({ notCompared: ['DIRECTOR'] })).finding, 'MISSING')
  t.is(relatedParty(parties({ notCompared: ['DIRECTOR'], addressHash: 'a-A' })).finding, 'POSSIBLE')
})

const account = {
  ref: '1',
  type: 'CURRENT',
  facility: null,
  currentBalancePaise: 100_000_000,
  from: '2026-05-01',
  to: '2026-11-20',
  transactions: [],
}

test('balances are summed without facilities, which are counted', (t) => {
  const accounts = [
    account,
    { ...account, type: 'SAVINGS' },
    { ...account, facility: 'OD' },
    { ...account, type: 'FD' },
  ]
  const { cashflow, notes } = accountCashflow({ accounts }, 'DEMO', observed)
  t.deepEqual(cashflow, { avgMonthlyBalance: 2_000_000, balanceTier: 'GOLD', source: 'DEMO' })
  t.deepEqual(notes, { excludedFacilities: 1, shortHistories: 0 })
})

test('an average of fewer than three complete months is missing', (t) => {
  const { cashflow, notes } = accountCashflow({ accounts: [{ ...account, from: '2026-08-02' }] }, 'DEMO', observed)
  t.deepEqual(cashflow, { avgMonthlyBalance: null, balanceTier: null, source: null })
  t.is(notes.shortHistories, 1)
})

test('Indian time decides the day of a transaction', (t) => {
  const transactions = [{ at: '2026-09-30T19:00:00Z', signedPaise: 3100, balancePaise: 3100 }]
  const { cashflow } = accountCashflow({ accounts: [{ ...account, transactions }] }, 'DEMO', observed)
  // From 1 October one of six months has 31 rupees.
  t.is(cashflow.avgMonthlyBalance, 5.17)
})
