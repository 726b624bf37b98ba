import test from 'ava'
import { inflateList, statusAt } from '#shared/risk/credentials/status-list.ts'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { verifyPassport } from '#shared/risk/operations/verify-passport.ts'
import { microsOfDate } from '#shared/time.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { eventsOf, scenarioGstin } from './financing-support.ts'

let product: HttpProduct
let base = ''
let client: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['kyb-verifier'] })
  base = product.url
  client = await openClient(product, base)
})

const business = {
  gstin: '29AAACR5678D1Z5',
  cin: 'U28999MH2015PTC123456',
  legalName: 'Synthetic Components Private Limited',
}
const verify = (body: object, own = client) => own.post('/v1/kyb/verifications', body)
const resultsOf = ({ json }: { json: { checks: { key: string; result: string; detail: string }[] } }) =>
  Object.fromEntries(json.checks.map(({ key, result, detail }) => [key, `${result}: ${detail}`]))

test('a verification is the anchored object, with an entity identifier and no name', async (t) => {
  const own = await openClient(product, base)
  const made = await verify(business, own)
  t.is(made.status, 201, made.text)
  t.is(made.json.anchor.payloadSha256, payloadSha256(made.json))
  t.regex(made.json.vei, /^[A-Z2-7]{25}[0-9A-Z]$/)
  t.false(made.text.includes('Synthetic'))
  t.false(made.text.includes('AAACR5678D'))
  const results = resultsOf(made)
  t.regex(results['gstin.status'] ?? '', /^MATCH: active since /)
  t.like(results, {
    'gstin.legalName': 'MATCH: similarity 1000 of 1000',
    'cin.status': 'MATCH: active',
    'cin.legalName': 'MATCH: similarity 1000 of 1000',
    lei: 'MATCH: registration ISSUED',
    'lei.registeredAs': 'MATCH: match',
    'identifiers.agree': 'MATCH: equal',
  })
  t.is((await own.get(`/v1/kyb/verifications/${made.json.verificationId}`)).text, made.text)
  t.deepEqual(await eventsOf(product, own), ['kyb.completed'])
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'kyb', units: 1 }])
})

test('two registrations of one PAN are one entity, and the company number becomes an alias', async (t) => {
  const own = await openClient(product, base)
  const byNumber = await verify({ cin: business.cin }, own)
  const byTax = await verify(business, own)
  const elsewhere = `07${business.gstin.slice(2, 12)}1Z`
  const other = await verify({ gstin: elsewhere + gstinCheckCharacter(elsewhere) }, own)
  t.not(byNumber.json.vei, byTax.json.vei)
  t.is(byTax.json.vei, other.json.vei)
  t.is(new Set([byNumber, byTax, other].map(({ json }) => json.entityId)).size, 1)
  const held = await own.get(`/v1/kyb/entities/${byNumber.json.vei}`)
  t.is(held.json.vei, byTax.json.vei)
  t.true(held.json.aliases.includes(byNumber.json.vei))
  t.is(held.json.verifications.length, 3)
  const resolved = await own.post('/v1/kyb/entities/resolve', { pan: 'AAACR5678D' })
  t.is(resolved.status, 200, resolved.text)
  t.is(resolved.json.entityId, byTax.json.entityId)
  const again = await own.post(`/v1/kyb/entities/${byTax.json.vei}/verify`, {})
  t.is(again.status, 201, again.text)
  t.is(again.json.vei, byTax.json.vei)
})

test('another organisation sees nothing of an entity, and a changed check character is 400', async (t) => {
  const { json } = await verify(business)
  const other = await openClient(product, base)
  t.is((await other.get(`/v1/kyb/entities/${json.vei}`)).status, 404)
  t.is((await other.get(`/v1/kyb/verifications/${json.verificationId}`)).status, 404)
  t.is((await other.post(`/v1/kyb/entities/${json.vei}/verify`, {})).status, 404)
  const last = json.vei.endsWith('A') ? 'B' : 'A'
  const changed = await client.get(`/v1/kyb/entities/${json.vei.slice(0, -1)}${last}`)
  t.like(changed.json, { status: 400, errors: [{ path: 'vei', code: 'CHECK_CHARACTER' }] })
})

test('one identifier gives no finding about other registers', async (t) => {
  const keysOf = async (body: object) => Object.keys(resultsOf(await verify(body))).sort()
  t.deepEqual(await keysOf({ udyam: 'UDYAM-MH-18-0000001' }), ['udyam.form'])
  t.deepEqual(await keysOf({ llpin: 'AAA-9999' }), ['llpin.form'])
  t.deepEqual(await keysOf({ cin: 'U62099TS2024PTC000001' }), ['lei', 'lei.registeredAs'])
})

test('the LEI of a company outside India leads to its register', async (t) => {
  const made = await verify({ lei: '9999SGNLGBDEMO000198', legalName: 'Synthetic Widgets Ltd' })
  t.deepEqual(resultsOf(made), {
    lei: 'MATCH: registration ISSUED',
    'register.status': 'MATCH: active',
    'register.legalName': 'MATCH: similarity 1000 of 1000',
  })
})

const scenarios: [string, string, RegExp][] = [
  ['12', 'gstin.status', /^MISSING: CONSENT_REVOKED/],
  ['03', 'gstin.status', /^MISSING: TIMEOUT/],
  ['04', 'gstin.status', /^MISMATCH: CANCELLED/],
  ['13', 'gstin.status', /^MISSING: UNPARSEABLE/],
  ['41', 'gstin.legalName', /^MISMATCH: similarity/],
]

for (const [digits, key, expected] of scenarios)
  test(`sandbox scenario ${digits} makes ${key} ${expected.source}, and is still 201`, async (t) => {
    const made = await verify({ ...business, cin: undefined, gstin: scenarioGstin(digits, gstinCheckCharacter) })
    t.is(made.status, 201, made.text)
    t.regex(resultsOf(made)[key] ?? '', expected)
  })

for (const [digits, expected] of [
  ['42', /^MATCH: registration LAPSED/],
  ['43', /^MISSING: NOT_FOUND/],
  ['78', /^MATCH: registration ISSUED/],
] as const)
  test(`sandbox scenario ${digits} of an LEI is ${expected.source}`, async (t) => {
    const gstin = scenarioGstin(digits, gstinCheckCharacter)
    const made = await verify({ gstin, lei: '9999SGNLBXDEMO000118', cin: business.cin })
    t.regex(resultsOf(made).lei ?? '', expected)
  })

test('scenario 11 gets 202 and later the verification', async (t) => {
  const body = { gstin: scenarioGstin('11', gstinCheckCharacter) }
  const early = await client.post('/v1/kyb/verifications', body, { prefer: 'wait=1' })
  t.is(early.status, 202, early.text)
  const location = String(early.headers.get('location'))
  t.is((await client.get(location)).status, 202)
  const late = await eventually('the verification', async () => {
    const answer = await client.get(location)
    return answer.status === 200 ? answer : undefined
  })
  t.regex(resultsOf(late)['gstin.status'] ?? '', /^MATCH/)
})

test('an LEI is read once a day; a wrong check digit causes no query', async (t) => {
  const own = await openClient(product, base)
  const found = await own.get('/v1/kyb/lei/9999SGNLBXDEMO000118', { prefer: 'wait=20' })
  t.is(found.status, 200, found.text)
  t.is(found.headers.get('preference-applied'), 'wait=20')
  t.like(found.json, { lei: '9999SGNLBXDEMO000118', matchBasis: 'LEI', missingReason: null })
  t.is((await own.get('/v1/kyb/lei/9999SGNLBXDEMO000118')).text, found.text)
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'kyb', units: 1 }])
  const wrong = await own.get('/v1/kyb/lei/9999SGNLBXDEMO000119')
  t.like(wrong.json, { status: 400, errors: [{ path: 'lei', code: 'CHECK_DIGITS' }] })
  const byName = await own.post('/v1/kyb/lei/resolve', { legalName: business.legalName })
  t.is(byName.status, 200, byName.text)
  t.like(byName.json, { matchBasis: 'NAME', similarityPermille: 1000 })
  t.is((await own.post('/v1/kyb/lei/resolve', { cin: business.cin })).json.registeredAs, business.cin)
  const forms = await own.post('/v1/kyb/lei/resolve', { legalName: 'Pvt Ltd' })
  t.like(forms.json, { lei: null, matchBasis: 'NAME', missingReason: 'NOT_FOUND' })
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'kyb', units: 3 }])
})

test('JOIN requires no membership; CHANGE and LEAVE require one', async (t) => {
  const own = await openClient(product, base)
  const { vei } = (await verify(business, own)).json
  const change = (action: string, organisation = 'Exporters of the South') =>
    own.post(`/v1/kyb/entities/${vei}/memberships`, { organisation, role: 'member', action, effectiveOn: '2026-10-01' })
  t.is((await change('LEAVE')).status, 409)
  const joined = await change('JOIN')
  t.is(joined.status, 201, joined.text)
  t.is(joined.json.record.anchor.payloadSha256, payloadSha256(joined.json.record))
  t.false(JSON.stringify(joined.json.record).includes('Exporters'))
  t.is((await change('JOIN', 'exporters of the south')).status, 409)
  const undated = { organisation: 'Another', role: 'member', action: 'JOIN' }
  t.like((await own.post(`/v1/kyb/entities/${vei}/memberships`, undated)).json, { effectiveOn: null })
  t.is((await change('CHANGE')).status, 201)
  t.is((await change('LEAVE')).status, 201)
  t.is((await change('CHANGE')).status, 409)
  const list = await own.get(`/v1/kyb/entities/${vei}/memberships`)
  t.is(list.json.memberships.length, 4)
  t.true((await eventsOf(product, own)).includes('membership.changed'))
})

test('owners are stated with commitments in place of names, up to 100 percent', async (t) => {
  const own = await openClient(product, base)
  const { vei } = (await verify(business, own)).json
  const one = { name: 'Asha Rao', kind: 'PERSON', holdingBps: 6_000, controlBasis: 'shares' }
  const state = (owners: object[]) => own.post(`/v1/kyb/entities/${vei}/owners`, { owners })
  const stated = await state([one])
  t.is(stated.status, 201, stated.text)
  t.false(JSON.stringify(stated.json.record).includes('Asha'))
  t.is(stated.json.record.unstatedBps, 4_000)
  t.like((await state([one, one])).json, { status: 400, errors: [{ path: 'owners', code: 'SUM' }] })
  t.true((await own.get(`/v1/kyb/entities/${vei}/owners`)).text.includes('Asha'))
})

test('a business passport verifies as JSON and as credential until it is revoked', async (t) => {
  const own = await openClient(product, base)
  const stranger = await openClient(product, base)
  const { vei } = (await verify(business, own)).json
  const issue = async () => (await own.post(`/v1/kyb/entities/${vei}/passports`, { purpose: 'onboarding' })).json
  const [{ passportId, record, credential }, other] = [await issue(), await issue()]
  t.like(record, { kind: 'KYB', subjectRef: vei, eventType: 'identity.passport_issued' })
  t.deepEqual(record.assurance, { level: 'LOW', factors: ['registry.gstin', 'registry.cin', 'registry.lei'] })
  t.false(JSON.stringify(record).includes('AAACR5678D'))
  const check = async (passport: unknown) => (await stranger.post('/v1/identity/passports/verify', { passport })).json
  t.like(await check(record), { valid: true, reasons: [], summary: { passportId, kind: 'KYB' } })
  t.like(await check(credential), { valid: true, reasons: [] })
  t.like(await check({ ...record, purpose: 'x' }), { valid: false, reasons: ['ANCHOR_UNKNOWN', 'HASH_MISMATCH'] })
  const statusOf = async ({ statusList: { uri, idx } }: { statusList: { uri: string; idx: number } }) => {
    const answer = await fetch(uri.replace(/^https?:\/\/[^/]+/, base))
    const payload = JSON.parse(Buffer.from((await answer.text()).split('.')[1] ?? '', 'base64url').toString())
    t.is(payload.sub, uri)
    const list = await inflateList(payload.status_list)
    return list && statusAt(list, idx)
  }
  t.is(await statusOf(record), 'VALID')
  const ends = new Date(record.expiresAt)
  const at = async (now: Date) =>
    await verifyPassport(product.db, record, { now: () => microsOfDate(now), publicUrl: '', signingKeys: [] })
  t.like(await at(new Date(ends.getTime() - 1)), { valid: true })
  t.like(await at(ends), { valid: false, reasons: ['EXPIRED'] })
  const revoke = `/v1/kyb/passports/${passportId}/revoke`
  t.is((await stranger.post(revoke, { reason: 'mine' })).status, 404, 'no organisation revokes for another')
  const revoked = await own.post(revoke, { reason: 'closed' })
  t.is(revoked.status, 200, revoked.text)
  t.is(revoked.json.anchor.payloadSha256, payloadSha256(revoked.json))
  t.false(revoked.text.includes('closed'))
  t.is((await own.post(revoke, { reason: 'again' })).status, 409)
  t.deepEqual([await statusOf(record), await statusOf(other.record)], ['REVOKED', 'VALID'])
  t.like(await check(record), { valid: false, reasons: ['REVOKED'] })
  t.like(await check(credential), { valid: false, reasons: ['REVOKED'] })
  const { passports } = (await own.get(`/v1/kyb/entities/${vei}/passports`)).json
  t.deepEqual(
    passports.map((one: { passportId: string; revocation: object | null }) => [one.passportId, one.revocation]),
    [
      [other.passportId, null],
      [passportId, revoked.json],
    ],
  )
})

test('a passport contains the verified values; after an erasure the anchors stay', async (t) => {
  const own = await openClient(product, base)
  const company = (await verify(business, own)).json.vei
  const passport = await own.post(`/v1/kyb/entities/${company}/passports`, { purpose: 'onboarding', validForDays: 30 })
  t.is(passport.status, 201, passport.text)
  t.is(passport.json.record.anchor.payloadSha256, payloadSha256(passport.json.record))
  const hashes = new Map<string, string | null>(
    passport.json.record.evidence.map((line: { key: string; rawSha256: string | null }) => [line.key, line.rawSha256]),
  )
  t.regex(hashes.get('gstin.status') ?? '', /^[0-9a-f]{64}$/)
  t.is(hashes.get('gstin.legalName'), hashes.get('gstin.status'), 'one answer')
  t.is(new Set(['gstin.status', 'cin.status', 'lei'].map((key) => hashes.get(key))).size, 3, 'three registers')
  const refused = await own.post(`/v1/kyb/entities/${company}/erasure`, { reason: 'requested' })
  t.like(refused.json, { status: 409, errors: [{ path: 'vei', code: 'NO_PERSON' }] })
  const { vei } = (await verify({ pan: 'AAAPR5678D' }, own)).json
  const one = { name: 'Asha Rao', kind: 'PERSON', holdingBps: 10_000, controlBasis: 'proprietor' }
  await own.post(`/v1/kyb/entities/${vei}/owners`, { owners: [one] })
  const person = (await own.post(`/v1/kyb/entities/${vei}/passports`, { purpose: 'onboarding' })).json
  const receipt = await own.post(`/v1/kyb/entities/${vei}/erasure`, { reason: 'requested' })
  t.is(receipt.status, 200, receipt.text)
  t.is(receipt.json.erased, 2)
  const gone = await own.post('/v1/identity/passports/verify', { passport: person.record })
  t.deepEqual(gone.json.reasons, ['REVOKED'])
  const erased = await own.post(`/v1/kyb/entities/${vei}/passports`, { purpose: 'onboarding' })
  t.like(erased.json, { status: 409, errors: [{ path: 'vei', code: 'ERASED' }] })
  t.deepEqual((await own.post(`/v1/kyb/entities/${vei}/erasure`, { reason: 'again' })).json, receipt.json)
  t.false((await own.get(`/v1/kyb/entities/${vei}/owners`)).text.includes('Asha'))
  const held = await own.get(`/v1/kyb/entities/${vei}`)
  t.deepEqual(held.json.identifiers, [])
  t.is(held.json.verifications[0].anchor.payloadSha256, payloadSha256(held.json.verifications[0]))
})

const faults: [string, object, string, string][] = [
  ['nothing to verify', { legalName: 'x' }, 'gstin', 'REQUIRED'],
  ['a bad company number', { cin: 'U28999MH2015PTC12345' }, 'cin', 'LENGTH'],
  ['a bad LEI', { lei: '9999SGNLBXDEMO000119' }, 'lei', 'CHECK_DIGITS'],
  ['a bad enterprise number', { udyam: 'UDYAM-1' }, 'udyam', 'FORMAT'],
  ['an unknown member', { ...business, rating: 1 }, 'rating', 'UNKNOWN_FIELD'],
  ['an Aadhaar number', { ...business, legalName: 'Asha 999941057058' }, 'legalName', 'AADHAAR_NOT_ACCEPTED'],
]

for (const [what, body, path, code] of faults)
  test(`${what} is 400 and names ${path}`, async (t) => {
    const { status, json, text } = await verify(body)
    t.is(status, 400, text)
    t.like(json.errors[0], { path, code })
  })
