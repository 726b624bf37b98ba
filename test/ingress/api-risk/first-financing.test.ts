import { randomUUID } from 'node:crypto'
import test from 'ava'
import { commitmentOf } from '#shared/risk/evidence/commitment.ts'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { act, check, eventsOf, receivable, register, scenarioGstin } from './financing-support.ts'

let product: HttpProduct
let base = ''
let a: ApiClient
let b: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['financing-registrar'] })
  base = product.url
  a = await openClient(product, base)
  b = await openClient(product, base)
})

test('a second organisation sees existence and month, and can register after the release', async (t) => {
  const invoice = receivable({ totalInr: 118_000.5 })
  const made = await register(a, { ...invoice, dealId: 'deal-1', dueDate: '2026-08-01' })
  t.is(made.status, 201, made.text)
  t.like(made.json, { state: 'REGISTERED', mode: 'FIELDS', contested: false })
  t.is(made.json.record.anchor.payloadSha256, payloadSha256(made.json.record))
  t.is(made.json.record.commitments.length, 6)
  const seen = await check(b, invoice)
  t.is(seen.status, 200, seen.text)
  const month = new Date().toISOString().slice(0, 4)
  t.is(seen.json.status, 'DUPLICATE_REGISTERED')
  t.deepEqual(Object.keys(seen.json).sort(), ['asOf', 'checkId', 'matches', 'mode', 'record', 'status'])
  const exact = seen.json.matches.find((match: { class: string }) => match.class === 'EXACT')
  t.deepEqual(Object.keys(exact).sort(), ['class', 'contested', 'firstSeenMonth', 'ownRegistration', 'state'])
  t.true(exact.firstSeenMonth.startsWith(month) && exact.firstSeenMonth.length === 7)
  t.is((await check(a, invoice)).json.status, 'CLEAN', 'one’s own registration changes nothing')
  const id = made.json.registrationId
  t.like((await act(a, id, 'finance', { financedOn: '2026-05-02' })).json, { state: 'FINANCED' })
  t.is((await check(b, invoice)).json.status, 'DUPLICATE_FINANCED')
  t.is((await register(b, invoice)).status, 409)
  t.is((await act(a, id, 'release')).json.state, 'RELEASED')
  t.is((await check(b, invoice)).json.status, 'CLEAN')
  t.is((await register(b, invoice)).status, 201)
  const own = await a.get(`/v1/first-financing/registrations/${id}`)
  t.like(own.json, { state: 'RELEASED', receivable: { fields: invoice } })
  const { fields, salts } = own.json.receivable
  for (const { name, commitment } of made.json.record.commitments)
    t.is(commitmentOf({ name, value: fields[name], salt: salts[name] }), commitment, name)
  t.is(own.json.othersChecks[0].count, 2)
})

test('a receivable of another organisation gets 409 EXACT, and both are notified', async (t) => {
  const [one, other] = [await openClient(product, base), await openClient(product, base)]
  const invoice = receivable()
  await register(one, invoice)
  const refused = await register(other, invoice)
  t.like(refused.json, { status: 409, code: 'CONFLICT' })
  t.like(refused.json.errors[0], { path: 'documentNumber', code: 'EXACT' })
  t.deepEqual(await eventsOf(product, one), ['first_financing.conflict', 'first_financing.registered'])
  t.deepEqual(await eventsOf(product, other), ['first_financing.conflict'])
  const units = await product.db('usage_units').where('unit_key', 'like', 'registration/%')
  t.true(units.every(({ unit_key: key }) => !key.includes(refused.json.registrationId)))
})

test('the holder gets its registration again unmetered; a repeated key returns the same bytes', async (t) => {
  const own = await openClient(product, base)
  const invoice = receivable()
  const key = { 'x-idempotency-key': randomUUID() }
  const made = await own.post('/v1/first-financing/registrations', invoice, key)
  const replayed = await own.post('/v1/first-financing/registrations', invoice, key)
  t.is(replayed.text, made.text)
  t.is(replayed.headers.get('idempotent-replayed'), 'true')
  const again = await register(own, invoice)
  t.is(again.status, 200)
  t.is(again.json.registrationId, made.json.registrationId)
  const { usage } = (await own.get('/v1/usage')).json
  t.deepEqual(
    usage.map(({ family, units }: { family: string; units: number }) => [family, units]),
    [['first-financing', 1]],
  )
})

test('matches are EXACT by number, NEAR by punctuation, ECONOMIC by date and amount', async (t) => {
  const number = `x${Date.now() % 1e9}/7`
  const invoice = receivable({ documentNumber: number, totalInr: 987_654.32 })
  await register(a, invoice)
  const statusOf = async (change: object) => (await check(b, { ...invoice, ...change })).json
  t.is((await statusOf({ documentNumber: number.toUpperCase() })).status, 'DUPLICATE_REGISTERED')
  const near = await statusOf({ documentNumber: number.replace('/', '-'), documentDate: '2026-06-09', totalInr: 5 })
  t.like(near, { status: 'POSSIBLE_MATCH', matches: [{ class: 'NEAR' }] })
  const economic = await statusOf({ documentNumber: 'RENAMED-1', totalInr: 987_654 })
  t.like(economic, { status: 'POSSIBLE_MATCH', matches: [{ class: 'ECONOMIC' }] })
  const later = { documentNumber: 'RENAMED-2', documentDate: '2026-06-05' }
  t.is((await statusOf(later)).status, 'CLEAN')
  t.is((await statusOf({ ...later, window: true })).status, 'CLEAN', 'five weeks are outside of the window')
  const nextWeek = { documentNumber: 'RENAMED-3', documentDate: '2026-05-08', totalInr: 988_654 }
  t.is((await statusOf(nextWeek)).status, 'CLEAN', 'equal weekly deliveries are ordinary')
  t.is((await statusOf({ ...nextWeek, window: true })).status, 'POSSIBLE_MATCH')
  t.is((await register(b, { ...invoice, documentNumber: 'RENAMED-1' })).status, 201, 'such matches never refuse')
})

test('every state permits exactly its documented transitions', async (t) => {
  const actions = ['finance', 'release', 'cancel', 'renew', 'transfer']
  const made = async () => (await register(a, receivable())).json.registrationId
  const statusesOf = async (prepare: readonly string[]) => {
    const id = await made()
    for (const action of prepare) t.is((await act(a, id, action)).status, 200, action)
    const refused = []
    for (const action of actions) {
      const fresh = prepare.length === 0 ? await made() : id
      const { status, json } = await act(a, fresh, action)
      refused.push(status)
      if (status === 409) t.is(json.code, 'CONFLICT')
    }
    return refused
  }
  t.deepEqual(await statusesOf([]), [200, 409, 200, 200, 409])
  t.deepEqual(await statusesOf(['finance', 'release']), [409, 409, 409, 409, 409])
  t.deepEqual(await statusesOf(['cancel']), [409, 409, 409, 409, 409])
  const financed = await made()
  await act(a, financed, 'finance')
  for (const [action, status] of [
    ['finance', 409],
    ['cancel', 409],
    ['renew', 200],
    ['transfer', 200],
    ['release', 200],
  ] as const)
    t.is((await act(a, financed, action)).status, status, action)
  const renewed = await made()
  const expiries = []
  for (let n = 0; n < 2; n++) expiries.push(Date.parse((await act(a, renewed, 'renew')).json.expiresAt))
  t.is((expiries[1] ?? 0) - (expiries[0] ?? 0), 7 * 86_400_000)
  t.is((await act(a, renewed, 'renew')).status, 409, 'a registration is renewed twice')
})

test('a transfer moves a financed receivable once to a holder of token and receivable', async (t) => {
  const invoice = receivable()
  const { json: made } = await register(a, invoice)
  await act(a, made.registrationId, 'finance')
  const offer = await act(a, made.registrationId, 'transfer')
  t.regex(offer.json.transferToken, /^[A-Za-z0-9_-]{43}$/)
  const accept = (client: ApiClient, transferToken: string, of: object) =>
    client.post('/v1/first-financing/transfers/accept', { transferToken, receivable: of })
  const { transferToken } = offer.json
  t.is((await accept(b, 'A'.repeat(43), invoice)).status, 404)
  t.like((await accept(b, transferToken, receivable())).json, { status: 409, errors: [{ path: 'receivable' }] })
  t.is((await accept(a, transferToken, invoice)).status, 409, 'not to oneself')
  const taken = await accept(b, transferToken, invoice)
  t.is(taken.status, 201, taken.text)
  t.like(taken.json, { state: 'FINANCED' })
  const { createdAt } = (await b.get(`/v1/first-financing/registrations/${taken.json.registrationId}`)).json
  t.is(createdAt, taken.json.createdAt)
  t.like((await accept(b, transferToken, invoice)).json, { status: 409, errors: [{ code: 'SPENT' }] }, 'once')
  const old = await a.get(`/v1/first-financing/registrations/${made.registrationId}`)
  t.is(old.json.state, 'TRANSFERRED')
  t.is((await check(a, invoice)).json.status, 'DUPLICATE_FINANCED')
})

test('a dispute notifies the holder, and a second one is refused while it is open', async (t) => {
  const [holder, other] = [await openClient(product, base), await openClient(product, base)]
  const invoice = receivable()
  const { json: made } = await register(holder, invoice)
  const dispute = (client: ApiClient) =>
    client.post('/v1/first-financing/disputes', { receivable: invoice, reason: 'we paid for it in April' })
  const opened = await dispute(other)
  t.is(opened.status, 201, opened.text)
  t.false(opened.text.includes(made.registrationId), 'the holder is not disclosed')
  t.is(opened.json.record.anchor.payloadSha256, payloadSha256(opened.json.record))
  t.is((await dispute(other)).status, 409)
  t.is((await dispute(holder)).status, 409)
  t.true((await eventsOf(product, holder)).includes('first_financing.disputed'))
  const path = `/v1/first-financing/disputes/${opened.json.disputeId}`
  const read = (await holder.get(`/v1/first-financing/registrations/${made.registrationId}`)).json
  t.is(read.createdAt, made.createdAt)
  t.is(read.disputes[0].openedAt, opened.json.openedAt)
  t.is((await other.get(path)).json.openedAt, opened.json.openedAt)
  t.is((await a.get(path)).status, 404)
  t.is((await other.post(`${path}/answer`, { answer: 'RELEASE' })).status, 404, 'the holder alone answers')
  t.is((await holder.post(`${path}/answer`, { answer: 'RELEASE' })).json.state, 'RELEASED')
  const again = await holder.post(`${path}/answer`, { answer: 'CONFIRM' })
  t.like(again.json, { status: 409, errors: [{ path: 'answer', code: 'ANSWERED' }] })
  const offered = await act(holder, made.registrationId, 'transfer')
  t.like(offered.json, { status: 409, errors: [{ path: 'registrationId', code: 'CANCELLED' }] })
  t.is((await register(other, invoice)).status, 201)
})

test('a statement is anchored, and its commitment opens', async (t) => {
  const { json } = await check(a, { ...receivable(), statement: true })
  t.is(json.record.anchor.payloadSha256, payloadSha256(json.record))
  t.like(json.record, { result: 'CLEAN', eventType: 'first_financing.checked', statementId: json.checkId })
  t.regex(json.opening.rf1, /^[0-9a-f]{64}$/)
  t.is((await a.get(`/v1/first-financing/checks/${json.checkId}`)).json.status, 'CLEAN')
})

test('respond-async returns 202 with the resource to poll', async (t) => {
  const answer = await a.post('/v1/first-financing/registrations', receivable(), { prefer: 'respond-async' })
  t.is(answer.status, 202, answer.text)
  const location = String(answer.headers.get('location'))
  t.is(location, `/v1/first-financing/registrations/${answer.json.id}`)
  const polled = await eventually('the registration', async () => {
    const reply = await a.get(location)
    return reply.status === 200 ? reply : undefined
  })
  t.is(polled.json.registrationId, answer.json.id)
})

const scenarios = [
  ['09', 'DUPLICATE_FINANCED', 409],
  ['14', 'POSSIBLE_MATCH', 201],
  ['03', 'UNRESOLVED', 201],
  ['12', 'UNRESOLVED', 201],
  ['13', 'UNRESOLVED', 201],
] as const

for (const [digits, status, registered] of scenarios)
  test(`sandbox scenario ${digits}: a check is ${status}, a registration ${registered}`, async (t) => {
    const invoice = receivable({ supplierGstin: scenarioGstin(digits, gstinCheckCharacter) })
    t.is((await check(a, invoice)).json.status, status)
    t.is((await register(a, invoice)).status, registered)
  })

const faults: [string, object, string, string?][] = [
  ['an unknown member', { extra: 1 }, 'extra', 'UNKNOWN_FIELD'],
  ['a missing member', { buyerGstin: undefined }, 'buyerGstin'],
  ['a wrong check character', { supplierGstin: '29AAACR5678D1Z6' }, 'supplierGstin', 'CHECK_DIGIT'],
  ['a number of punctuation alone', { documentNumber: '-/-' }, 'documentNumber'],
  ['a number that is too long', { documentNumber: 'A'.repeat(17) }, 'documentNumber'],
  ['a date that does not exist', { documentDate: '2026-02-30' }, 'documentDate', 'FORMAT'],
  ['nothing owed', { totalInr: 0 }, 'totalInr', 'TOO_SMALL'],
  ['a third decimal', { totalInr: 1.001 }, 'totalInr', 'TOO_MANY_DECIMALS'],
  ['one registration in both roles', { buyerGstin: '29AAACR5678D1Z5' }, 'buyerGstin', 'DUPLICATE_ROLE'],
  ['another year', { financialYear: '2025-26' }, 'financialYear', 'NOT_OF_DATE'],
  ['a NUL', { documentNumber: 'A\u0000' }, 'documentNumber'],
  ['a lone surrogate', { documentNumber: '\ud800' }, ''],
  ['a megabyte', { documentNumber: 'A'.repeat(900_000) }, 'documentNumber'],
]

for (const [what, change, path, code] of faults)
  test(`${what} is 400 and names ${path || 'the body'}`, async (t) => {
    const { status, json, text } = await check(a, receivable(change))
    t.is(status, 400, text)
    t.is(json.code, 'VALIDATION_ERROR')
    t.is(json.errors[0].path, path || json.errors[0].path)
    if (code !== undefined) t.is(json.errors[0].code, code)
  })

test('an Aadhaar number in a text is refused', async (t) => {
  const { status, json } = await register(a, { ...receivable(), lenderRef: 'of 9999 4105 7058' })
  t.is(status, 400)
  t.like(json.errors[0], { path: 'lenderRef', code: 'AADHAAR_NOT_ACCEPTED' })
})

test('JSON of 10,000 levels gets 400', async (t) => {
  const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  t.is((await a.post('/v1/first-financing/checks', deep)).status, 400)
})

test('receivables above the daily limit get 429 until midnight in India and are not counted', async (t) => {
  const guesser = await openClient(product, base)
  const organisation = await product.db('organisations').where({ uuid: guesser.credentials.organisationId }).first()
  await check(guesser, receivable())
  await product
    .db('daily_counters')
    .where({ organisation_id: organisation.id, name: 'financing.elements' })
    .update({ count: 2_996 })
  t.is((await check(guesser, receivable())).status, 200, 'four elements are left')
  const refused = await check(guesser, receivable())
  t.is(refused.status, 429, refused.text)
  t.true(Number(refused.headers.get('retry-after')) <= 86_400)
  t.is((await register(guesser, receivable())).status, 429)
  const [{ count }] = await product
    .db('daily_counters')
    .where({ organisation_id: organisation.id, name: 'financing.elements' })
  t.is(count, 3_000)
})

test('without remaining daily checks, elements are not counted, and registrations continue', async (t) => {
  const other = await openClient(product, base)
  const organisation = await product.db('organisations').where({ uuid: other.credentials.organisationId }).first('id')
  await check(other, receivable())
  const counters = product.db('daily_counters').where({ organisation_id: organisation.id })
  await counters.clone().where({ name: 'financing.checks' }).update({ count: 2_000 })
  t.is((await check(other, receivable())).status, 429)
  t.is((await register(other, receivable())).status, 201, 'it counts elements alone')
  t.deepEqual(await counters.clone().orderBy('name').select('name', 'count'), [
    { name: 'financing.checks', count: 2_000 },
    { name: 'financing.elements', count: 8 },
  ])
})
