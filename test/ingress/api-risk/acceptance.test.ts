import { randomInt, randomUUID } from 'node:crypto'
import test from 'ava'
import { gstinCheckCharacter } from '#shared/risk/identifiers/gstin.ts'
import { microsOfDate } from '#shared/time.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { type ApiClient, clientWith, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { eventsOf, receivable, scenarioGstin } from './financing-support.ts'

let product: HttpProduct
let base = ''
let lender: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['acceptance-recorder', 'dilution-measurer'] })
  base = product.url
  lender = await openClient(product, base)
})

const newRef = () => `RCV-${randomInt(1e9)}`
const recordBody = (receivableRef: string, action: string, change: object = {}) => ({
  receivableRef,
  channel: 'IMS',
  action,
  at: '2026-06-20T18:30:00.000Z',
  ...change,
})
const record = (body: object, client = lender) => client.post('/v1/acceptance/records', body)
const adjust = (body: object, client = lender) => client.post('/v1/acceptance/adjustments', body)

test('a record equals the anchored object; deemed acceptance stays deemed', async (t) => {
  const ref = newRef()
  const made = await record(recordBody(ref, 'DEEMED_ACCEPTED', { amountAccepted: 118_000 }))
  t.is(made.status, 201, made.text)
  t.like(made.json, { action: 'DEEMED_ACCEPTED', amountAccepted: 118_000, tier: 'LENDER_SIDE', receivableRef: ref })
  t.is(made.json.anchor.payloadSha256, payloadSha256(made.json))
  t.is((await lender.get(`/v1/acceptance/${ref}`)).json.summary.action, 'DEEMED_ACCEPTED')
  t.is((await lender.get(`/v1/acceptance/records/${made.json.acceptanceId}`)).text, made.text)
  const declared = await record(recordBody(newRef(), 'ACCEPTED', { declaredBy: 'SUPPLIER' }))
  t.is(declared.json.tier, 'SELF_DECLARED')
})

const transitions: [string, string, number][] = [
  ['PENDING', 'ACCEPTED', 201],
  ['PENDING', 'REJECTED', 201],
  ['PENDING', 'DEEMED_ACCEPTED', 201],
  ['ACCEPTED', 'REJECTED', 201],
  ['ACCEPTED', 'PENDING', 409],
  ['ACCEPTED', 'DEEMED_ACCEPTED', 409],
  ['DEEMED_ACCEPTED', 'ACCEPTED', 201],
  ['DEEMED_ACCEPTED', 'PENDING', 409],
  ['REJECTED', 'ACCEPTED', 201],
  ['REJECTED', 'PENDING', 201],
  ['REJECTED', 'DEEMED_ACCEPTED', 409],
  ['ACCEPTED', 'ACCEPTED', 201],
]

for (const [before, after, status] of transitions)
  test(`${before} and then ${after} is ${status}`, async (t) => {
    const ref = newRef()
    t.is((await record(recordBody(ref, before))).status, 201)
    const answer = await record(recordBody(ref, after))
    t.is(answer.status, status, answer.text)
    if (status === 201) t.is(answer.json.afterAcceptance, before === 'ACCEPTED' && after === 'REJECTED')
    else t.is(answer.json.errors[0].path, 'action')
  })

test('every action stores its amount, but only acceptances count it', async (t) => {
  const ref = newRef()
  const summary = async () => (await lender.get(`/v1/acceptance/${ref}`)).json.summary
  t.is((await record(recordBody(ref, 'PENDING', { amountAccepted: 500 }))).json.amountAccepted, 500)
  t.is((await summary()).acceptedInr, null)
  await record(recordBody(ref, 'DEEMED_ACCEPTED', { amountAccepted: 400.5 }))
  t.is((await summary()).acceptedInr, 400.5)
  await record(recordBody(ref, 'ACCEPTED'))
  t.is((await summary()).acceptedInr, null, 'silence’s amount is not consent’s')
  t.is((await record(recordBody(ref, 'ACCEPTED', { amountAccepted: 300 }))).json.amountAccepted, 300)
  t.is((await summary()).acceptedInr, null, 'a repeated action changes nothing')
  await record(recordBody(ref, 'REJECTED', { amountAccepted: 300 }))
  t.is((await summary()).acceptedInr, null)
})

test('refuses an acceptance above the amount of the receivable, or marks a conflict', async (t) => {
  const invoice = receivable({ totalInr: 118_000 })
  for (const action of ['ACCEPTED', 'DEEMED_ACCEPTED']) {
    const above = { amountAccepted: 118_000.01, receivable: invoice, channel: 'BUYER_PORTAL' }
    const refused = await record(recordBody(newRef(), action, above))
    t.like(refused.json, { status: 400, errors: [{ path: 'amountAccepted', code: 'TOO_LARGE' }] }, action)
  }
  const partial = await record(recordBody(newRef(), 'ACCEPTED', { amountAccepted: 117_999.99, receivable: invoice }))
  t.is(partial.status, 201, partial.text)
  const ref = newRef()
  const conflict = async () => (await lender.get(`/v1/acceptance/${ref}`)).json.summary.conflict
  await record(recordBody(ref, 'ACCEPTED', { amountAccepted: 118_000, receivable: invoice }))
  await record(recordBody(ref, 'REJECTED'))
  t.false(await conflict())
  await record(recordBody(ref, 'ACCEPTED', { amountAccepted: 118_000.01 }))
  t.true(await conflict())
})

test('an agreeing registry verifies the record; a contradiction is stored', async (t) => {
  const [agreed, other] = [newRef(), newRef()]
  const same = await record(recordBody(agreed, 'ACCEPTED', { receivable: receivable() }))
  t.is(same.json.tier, 'REGISTRY_VERIFIED')
  const against = await record(recordBody(other, 'DEEMED_ACCEPTED', { receivable: receivable() }))
  t.is(against.json.tier, 'LENDER_SIDE')
  const { summary } = (await lender.get(`/v1/acceptance/${other}`)).json
  t.like(summary, { conflict: true, registryAction: 'ACCEPTED', action: 'DEEMED_ACCEPTED' })
  const renamed = await record(recordBody(agreed, 'ACCEPTED', { receivable: receivable() }))
  t.like(renamed.json, { status: 409, errors: [{ path: 'receivable', code: 'OTHER_RECEIVABLE' }] })
})

test('adjustments are summed in paise; payments are no adjustment', async (t) => {
  const ref = newRef()
  await record(recordBody(ref, 'ACCEPTED', { receivable: receivable({ totalInr: 118_000 }) }))
  for (const [kind, amountInr] of [
    ['CREDIT_NOTE', 2_950],
    ['SET_OFF', 1_000],
    ['PAYMENT', 60_000],
  ]) {
    const made = await adjust({ receivableRef: ref, kind, amountInr, at: '2026-07-01T00:00:00Z' })
    t.is(made.status, 201, made.text)
    t.is(made.json.anchor.payloadSha256, payloadSha256(made.json))
  }
  const { summary } = (await lender.get(`/v1/acceptance/${ref}`)).json
  t.like(summary, { dilutedInr: 3_950, dilutionBps: 335, outstandingInr: 54_050 })
})

test('every write sends an event; rejections and disputes also send a dispute event', async (t) => {
  const own = await openClient(product, base)
  const ref = newRef()
  await record(recordBody(ref, 'ACCEPTED'), own)
  await record(recordBody(ref, 'REJECTED'), own)
  await adjust({ receivableRef: ref, kind: 'DISPUTE_OPENED', amountInr: 5, at: '2026-07-01T00:00:00Z' }, own)
  const events = await eventsOf(product, own)
  t.deepEqual(events.filter((type) => type === 'acceptance.recorded').length, 3)
  t.deepEqual(events.filter((type) => type === 'acceptance.disputed').length, 2)
  const { usage } = (await own.get('/v1/usage')).json
  t.like(usage[0], { family: 'acceptance', units: 3 })
})

test('twenty concurrent equal records get one answer each, in one order', async (t) => {
  const ref = newRef()
  const key = { 'x-idempotency-key': randomUUID() }
  const same = await Promise.all(
    Array.from({ length: 5 }, () => lender.post('/v1/acceptance/records', recordBody(ref, 'PENDING'), key)),
  )
  t.is(new Set(same.filter(({ status }) => status === 201).map(({ json }) => json.acceptanceId)).size, 1)
  const actions = await Promise.all(['ACCEPTED', 'DEEMED_ACCEPTED'].map((action) => record(recordBody(ref, action))))
  const timeline = (await lender.get(`/v1/acceptance/${ref}`)).json.records.map(
    ({ action }: { action: string }) => action,
  )
  const bothFit = actions.every(({ status }) => status === 201)
  t.deepEqual(timeline, bothFit ? ['PENDING', 'DEEMED_ACCEPTED', 'ACCEPTED'] : ['PENDING', 'ACCEPTED'])
})

test('another organisation sees nothing of a reference, and an unknown one is 404', async (t) => {
  const ref = newRef()
  const { json } = await record(recordBody(ref, 'ACCEPTED'))
  const other = await openClient(product, base)
  t.is((await other.get(`/v1/acceptance/${ref}`)).status, 404)
  t.is((await other.get(`/v1/acceptance/records/${json.acceptanceId}`)).status, 404)
  t.is((await lender.get(`/v1/acceptance/${newRef()}`)).status, 404)
})

test('recording requires the family acceptance; risk-signals permits reads only', async (t) => {
  const reader = await openClient(product, base, { families: ['risk-signals'] })
  t.is((await record(recordBody(newRef(), 'ACCEPTED'), reader)).status, 403)
  t.is((await reader.get(`/v1/acceptance/${newRef()}`)).status, 404)
})

const faults: [string, object, string][] = [
  ['an unknown action', { action: 'MAYBE' }, 'action'],
  ['a word of the paths', { receivableRef: 'records' }, 'receivableRef'],
  ['a dot that is removed from paths', { receivableRef: '.' }, 'receivableRef'],
  ['two dots that are removed from paths', { receivableRef: '..' }, 'receivableRef'],
  ['markup over two lines', { receivableRef: 'a\nb' }, 'receivableRef'],
  ['an unknown member', { score: 1 }, 'score'],
  ['the future', { at: '2999-01-01T00:00:00Z' }, 'at'],
  ['tomorrow', { at: new Date(Date.now() + 86_400_000 * 400).toISOString() }, 'at'],
  ['an Aadhaar number', { receivableRef: '999941057058' }, 'receivableRef'],
]

for (const [what, change, path] of faults)
  test(`${what} is 400 and names ${path}`, async (t) => {
    const { status, json, text } = await record({ ...recordBody(newRef(), 'ACCEPTED'), ...change })
    t.is(status, 400, text)
    t.is(json.errors[0].path, path)
  })

test('a stated time may be at most five minutes ahead of our clock', async (t) => {
  const now = Date.now()
  const { base: address } = await product.ingress({ now: () => microsOfDate(new Date(now)) })
  const own = clientWith(address, lender.token, lender.credentials)
  const ahead = (ms: number) => new Date(now + ms).toISOString()
  const writes = {
    record: (at: string) => record(recordBody(newRef(), 'ACCEPTED', { at }), own),
    adjustment: (at: string) => adjust({ receivableRef: newRef(), kind: 'PAYMENT', amountInr: 1, at }, own),
  }
  for (const [what, write] of Object.entries(writes)) {
    const last = await write(ahead(300_000))
    t.is(last.status, 201, `${what}: ${last.text}`)
    t.is(last.json.at, ahead(300_000))
    t.like((await write(ahead(300_001))).json, { status: 400, errors: [{ path: 'at', code: 'TOO_LATE' }] }, what)
  }
})

const dilution = (client: ApiClient, supplierGstin: string, buyerGstin = '27AAACB1234C1ZF') =>
  client.get(`/v1/risk-signals/anti-dilution?supplierGstin=${supplierGstin}&buyerGstin=${buyerGstin}`)

test('one registration in both roles of a dilution is 400', async (t) => {
  const { json } = await dilution(lender, '27AAACB1234C1ZF')
  t.like(json, { status: 400, errors: [{ path: 'buyerGstin', code: 'DUPLICATE_ROLE' }] })
})

test('scenario 44 gives CREDIT_NOTES_HIGH, and a second read is equal and not metered', async (t) => {
  const own = await openClient(product, base)
  const supplier = scenarioGstin('44', gstinCheckCharacter)
  const first = await dilution(own, supplier)
  t.is(first.status, 200, first.text)
  t.like(first.json, { creditNoteRatioBps: 1_200, creditNoteRatio: 0.12, monthsKnown: 12, tier: 'REGISTRY_VERIFIED' })
  t.deepEqual(
    first.json.observations.map(({ code }: { code: string }) => code),
    ['CREDIT_NOTES_HIGH'],
  )
  t.is((await dilution(own, supplier)).text, first.text)
  const { usage } = (await own.get('/v1/usage')).json
  t.deepEqual(
    usage.map(({ family, units }: { family: string; units: number }) => [family, units]),
    [['risk-signals', 1]],
  )
})

test('scenario 45: the buyer has rejected two documents besides the recorded one', async (t) => {
  const own = await openClient(product, base)
  const [supplierGstin, buyerGstin] = ['29AAACR5678D1Z5', scenarioGstin('45', gstinCheckCharacter)]
  const { status, json, text } = await dilution(own, supplierGstin, buyerGstin)
  t.is(status, 200, text)
  t.deepEqual(json.acceptance, { accepted: 0, deemed: 0, rejected: 2, pending: 0 })
  t.like(json.observations, [{ code: 'REJECTIONS', observed: 2, threshold: 1 }])

  const other = await openClient(product, base)
  const accepted = recordBody(newRef(), 'ACCEPTED', { receivable: receivable({ supplierGstin, buyerGstin }) })
  t.is((await record(accepted, other)).status, 201)
  t.deepEqual((await dilution(other, supplierGstin, buyerGstin)).json.acceptance, {
    ...{ accepted: 1, deemed: 0, rejected: 2, pending: 0 },
  })
  t.deepEqual((await dilution(other, buyerGstin, supplierGstin)).json.acceptance.rejected, 0, 'it is about the buyer')
})

test('a long-polling read reports its requested wait', async (t) => {
  const path = `/v1/risk-signals/anti-dilution?supplierGstin=${scenarioGstin('11', gstinCheckCharacter)}&buyerGstin=27AAACB1234C1ZF`
  const early = await lender.get(path, { prefer: 'respond-async' })
  t.is(early.status, 202, early.text)
  t.is(early.headers.get('preference-applied'), 'respond-async')
  t.is(early.headers.get('location'), path)
})

test('too few filed periods or a silent registry give no ratio', async (t) => {
  const few = await dilution(lender, scenarioGstin('02', gstinCheckCharacter))
  t.like(few.json, { creditNoteRatioBps: null, monthsKnown: 8 })
  const late = await dilution(lender, scenarioGstin('12', gstinCheckCharacter))
  t.like(late.json, {
    creditNoteRatioBps: null,
    grossValueInr: null,
    tier: 'MISSING',
    missingReason: 'CONSENT_REVOKED',
  })
})

test('recorded actions become counts and observations of the pair', async (t) => {
  const own = await openClient(product, base)
  const supplierGstin = scenarioGstin('87', gstinCheckCharacter)
  for (let n = 0; n < 5; n++) {
    const ref = newRef()
    const about = { receivable: receivable({ supplierGstin, totalInr: 1_000 }) }
    await record(recordBody(ref, n === 4 ? 'REJECTED' : 'DEEMED_ACCEPTED', about), own)
    if (n === 0)
      await adjust({ receivableRef: ref, kind: 'CREDIT_NOTE', amountInr: 300, at: '2026-05-11T00:00:00Z' }, own)
    if (n === 1)
      await adjust({ receivableRef: ref, kind: 'DISPUTE_OPENED', amountInr: 1_000, at: '2026-06-01T00:00:00Z' }, own)
  }
  const { json } = await dilution(own, supplierGstin)
  t.deepEqual(json.acceptance, { accepted: 0, deemed: 4, rejected: 1, pending: 0 })
  t.deepEqual(json.disputes, { open: 1, valueInr: 1_000 })
  t.deepEqual(json.linked, { notes: 1, medianDaysInvoiceToNote: 10, above5PercentCount: 1 })
  t.deepEqual(
    json.observations.map(({ code }: { code: string }) => code),
    ['NOTE_LARGE', 'SILENT_ACCEPTANCE', 'REJECTIONS', 'DISPUTE_OPEN'],
  )
})

test('an invalid registration in the query gets 400 with its name', async (t) => {
  const { status, json } = await dilution(lender, '29AAACR5678D1Z6')
  t.is(status, 400)
  t.like(json.errors[0], { path: 'supplierGstin', code: 'CHECK_DIGIT' })
})
