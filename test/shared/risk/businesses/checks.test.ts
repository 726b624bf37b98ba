import test from 'ava'
import { type BusinessAnswers, businessChecks, foreignEntryOf } from '#shared/risk/businesses/checks.ts'
import { leiAnswer } from '#shared/risk/businesses/lei-answer.ts'
import { VerificationBody } from '#shared/risk/businesses/requests.ts'
import type { MissingReason, RegistryResult } from '#shared/risk/registries/connector.ts'
import type { LeiRecord } from '#shared/risk/registries/registry-data.ts'

const CIN = 'U28999MH2015PTC123456'
const PAN = 'AAACR5678D'
const answer = {
  source: 'TEST',
  observedAt: '2026-11-21T10:15:30.123Z',
  asOf: null,
  consent: null,
  rawSha256: null,
  latencyMs: 1,
  attempts: 1,
  connectorVersion: '1',
}
const ok = <T>(data: T): RegistryResult<T> => ({
  ...answer,
  status: 'OK',
  tier: 'REGISTRY_VERIFIED',
  data,
  missingReason: null,
})
const none = (missingReason: MissingReason): RegistryResult<never> => ({
  ...answer,
  status: 'MISSING',
  tier: 'MISSING',
  data: null,
  missingReason,
})
const taxpayer = (legalName: string, status: 'ACTIVE' | 'CANCELLED' = 'ACTIVE') =>
  ok({ gstin: '29AAACR5678D1Z5', legalName, status, registeredOn: '2021-04-01', otherGstins: [] })
const company = (companyNumber: string | null) =>
  ok({
    pan: PAN,
    companyNumber,
    legalName: 'Alpha Beta',
    status: 'ACTIVE',
    directorIds: [],
    holdings: [],
    addressHash: null,
    bankAccountHashes: [],
    phoneHashes: [],
    emailHashes: [],
  })
const lei = (more: Partial<LeiRecord> = {}): LeiRecord => ({
  lei: '9999SGNLBXDEMO000118',
  legalName: 'Alpha Beta',
  jurisdiction: 'IN',
  entityStatus: 'ACTIVE',
  registrationStatus: 'ISSUED',
  registeredAt: 'RA000394',
  registeredAs: CIN,
  nextRenewalDate: null,
  ...more,
})

/** Returns each finding as key, result, tier and detail. */
const found = (request: object, answers: Partial<BusinessAnswers>) =>
  businessChecks(VerificationBody.parse(request), {
    ...{ taxpayer: null, company: null, lei: null, registerCompany: null },
    ...answers,
  }).map(({ key, result, tier, detail }) => `${key} ${result} ${tier} ${detail}`)

test('names match from a similarity of 850 of 1000', (t) => {
  const gstin = '29AAACR5678D1Z5'
  const status = 'gstin.status MATCH REGISTRY_VERIFIED active since 2021-04-01'
  const names = (registered: string, legalName: string) =>
    found({ gstin, legalName }, { taxpayer: taxpayer(registered) })
  t.deepEqual(names('ALPHA BETA PVT. LTD.', 'Alpha Beta Private Limited'), [
    status,
    'gstin.legalName MATCH REGISTRY_VERIFIED similarity 1000 of 1000',
  ])
  t.deepEqual(names('Alpha Beta Gamma', 'Alpha Beta'), [
    status,
    'gstin.legalName MISMATCH REGISTRY_VERIFIED similarity 800 of 1000',
  ])
  t.deepEqual(names('Alpha', 'Pvt Ltd'), [status, 'gstin.legalName MISSING MISSING NOT_FOUND'])
  t.deepEqual(found({ gstin, legalName: 'A' }, { taxpayer: none('TIMEOUT') }), [
    'gstin.status MISSING MISSING TIMEOUT',
    'gstin.legalName MISSING MISSING TIMEOUT',
  ])
  t.deepEqual(found({ gstin }, { taxpayer: taxpayer('A', 'CANCELLED') }), [
    'gstin.status MISMATCH REGISTRY_VERIFIED CANCELLED',
  ])
})

test('identifiers are compared by PAN and by company number', (t) => {
  const agreement = (request: object, answers: Partial<BusinessAnswers> = {}) =>
    found(request, answers).filter((line) => line.startsWith('identifiers'))
  const gstin = '29AAACR5678D1Z5'
  t.deepEqual(agreement({ gstin, pan: PAN }), ['identifiers.agree MATCH SELF_DECLARED equal'])
  t.deepEqual(agreement({ gstin, pan: 'AAACB1234C' }), ['identifiers.agree MISMATCH SELF_DECLARED different'])
  t.deepEqual(agreement({ gstin, cin: CIN }, { company: company(CIN) }), [
    'identifiers.agree MATCH REGISTRY_VERIFIED equal',
  ])
  t.deepEqual(agreement({ gstin, cin: CIN }, { company: company('U11111MH2015PTC123456') }), [
    'identifiers.agree MISMATCH REGISTRY_VERIFIED different',
  ])
  t.deepEqual(agreement({ gstin }), [])
})

test('an identifier checked only for its form is SELF_DECLARED', (t) => {
  t.deepEqual(found({ pan: PAN, llpin: 'AAA-9999', udyam: 'UDYAM-MH-01-0000001' }, {}), [
    'pan.form MATCH SELF_DECLARED well formed',
    'llpin.form MATCH SELF_DECLARED well formed',
    'udyam.form MATCH SELF_DECLARED well formed',
  ])
})

test('NOT_FOUND requires a queried register without an entry', (t) => {
  const everything = {
    gstin: '29AAACR5678D1Z5',
    pan: PAN,
    cin: CIN,
    llpin: 'AAA-9999',
    lei: '9999SGNLBXDEMO000118',
    udyam: 'UDYAM-MH-01-0000001',
    legalName: 'Alpha Beta',
  }
  t.false(found(everything, {}).join().includes('MISSING'), 'no register was queried')
  const unconfigured = found(everything, { company: none('NOT_ENTITLED'), lei: none('NOT_ENTITLED') })
  t.deepEqual(
    unconfigured.filter((line) => line.includes('MISSING')),
    ['cin.status', 'cin.legalName', 'lei'].map((key) => `${key} MISSING MISSING NOT_ENTITLED`),
  )
  t.true(found(everything, { lei: none('NOT_FOUND') }).includes('lei MISSING MISSING NOT_FOUND'))
})

test('a lapsed LEI is reported, and its registration is compared with the company number', (t) => {
  const request = { cin: CIN, lei: '9999SGNLBXDEMO000118' }
  const lines = (record: LeiRecord) => found(request, { lei: ok([record]) }).filter((line) => line.startsWith('lei'))
  t.deepEqual(lines(lei({ registrationStatus: 'LAPSED' })), [
    'lei MATCH REGISTRY_VERIFIED registration LAPSED',
    'lei.registeredAs MATCH REGISTRY_VERIFIED match',
  ])
  t.deepEqual(lines(lei({ registeredAs: 'U11111MH2015PTC123456' })), [
    'lei MATCH REGISTRY_VERIFIED registration ISSUED',
    'lei.registeredAs MISMATCH REGISTRY_VERIFIED mismatch',
  ])
  t.deepEqual(lines(lei({ registeredAs: null }))[1], 'lei.registeredAs MISSING MISSING NOT_FOUND')
})

test('a company outside India is compared with the register that its LEI record names', (t) => {
  const british = lei({ jurisdiction: 'GB', registeredAt: 'RA000585', registeredAs: '00000006' })
  t.deepEqual(foreignEntryOf(british), { authority: 'RA000585', number: '00000006' })
  for (const record of [
    lei(),
    lei({ jurisdiction: 'IN-KA' }),
    { ...british, registeredAs: null },
    { ...british, registeredAt: null },
    { ...british, registeredAt: 'RA999999/x' },
  ]) {
    t.is(foreignEntryOf(record), null)
  }
  const entry = { authority: 'RA000585', companyNumber: '00000006', legalName: 'ALPHA BETA LTD', directorIds: [] }
  const lines = (status: string) =>
    found(
      { lei: '9999SGNLBXDEMO000118', legalName: 'Alpha Beta' },
      { registerCompany: ok({ ...entry, status, heldBy: null }) },
    )
  t.deepEqual(lines('ACTIVE'), [
    'register.status MATCH REGISTRY_VERIFIED active',
    'register.legalName MATCH REGISTRY_VERIFIED similarity 1000 of 1000',
  ])
  t.is(lines('DISSOLVED')[0], 'register.status MISMATCH REGISTRY_VERIFIED DISSOLVED')
  const missing = found({ lei: '9999SGNLBXDEMO000118' }, { registerCompany: none('NOT_ENTITLED') })
  t.deepEqual(missing, ['register.status MISSING MISSING NOT_ENTITLED'])
})

test('LEI candidates are ordered by similarity, then by identifier', (t) => {
  const records = [
    lei({ lei: 'C'.repeat(20), legalName: 'Alpha Beta Holdings' }),
    lei({ lei: 'B'.repeat(20), legalName: 'ALPHA BETA LIMITED' }),
    lei({ lei: 'A'.repeat(20), legalName: 'Alpha Beta' }),
    lei({ lei: 'D'.repeat(20), legalName: 'Alphabet Soup' }),
  ]
  t.like(leiAnswer({ legalName: 'Alpha Beta Pvt Ltd' }, ok(records)), {
    lei: 'A'.repeat(20),
    matchBasis: 'NAME',
    similarityPermille: 1000,
  })
  t.like(leiAnswer({ legalName: 'Alpha Beta Holdings' }, ok(records)), {
    lei: 'C'.repeat(20),
    similarityPermille: 1000,
  })
  t.like(leiAnswer({ cin: CIN }, ok([lei()])), {
    matchBasis: 'REGISTERED_AS',
    registeredAs: CIN,
    similarityPermille: null,
  })
  t.like(leiAnswer({ lei: lei().lei }, none('NOT_FOUND')), { lei: null, matchBasis: 'LEI', missingReason: 'NOT_FOUND' })
})
