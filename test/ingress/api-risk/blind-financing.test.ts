import { randomBytes } from 'node:crypto'
import test from 'ava'
import { commitmentOf } from '#shared/risk/evidence/commitment.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { act, blindFingerprints, blindOf, check, receivable, register } from './financing-support.ts'

let product: HttpProduct
let base = ''
let a: ApiClient
let b: ApiClient

const EVALUATE = '/v1/first-financing/oprf/evaluate'
const random32 = () => randomBytes(32).toString('hex')
const evaluate = (client: ApiClient, body: object) => client.post(EVALUATE, body)
const element = () => blindOf(randomBytes(20)).blinded

test.before(async () => {
  product = await sharedProduct({
    env: { FINANCING_ELEMENTS_PER_DAY: '100', FINANCING_CHECKS_PER_DAY: '20' },
    workers: ['financing-registrar'],
  })
  base = product.url
  a = await openClient(product, base)
  b = await openClient(product, base)
})

test.serial('the first request creates the key of the epoch, which is anchored', async (t) => {
  const { status, json } = await a.get('/v1/first-financing/oprf/key')
  t.is(status, 200)
  t.like(json, { suite: 'ristretto255-SHA512', mode: 'VOPRF' })
  t.is(json.epochs.length, 1)
  const [{ epoch, state, publicKey, record }] = json.epochs
  t.deepEqual([epoch, state], [2, 'CURRENT'])
  t.like(record, { epoch: 2, publicKey, eventType: 'first_financing.epoch' })
  t.is(record.anchor.payloadSha256, payloadSha256(record))
  t.deepEqual((await b.get('/v1/first-financing/oprf/key')).json, json, 'all clients get the same')
})

test.serial('a blind registration and a check by fields match as EXACT, in both orders', async (t) => {
  const invoice = receivable()
  const fingerprints = await blindFingerprints(b, invoice)
  const made = await register(b, { fingerprints, dealId: 'deal-b', lenderRef: 'ours' })
  t.is(made.status, 201, made.text)
  t.like(made.json, { state: 'REGISTERED', mode: 'BLIND', dealId: 'deal-b' })
  const seen = await check(a, invoice)
  t.is(seen.json.status, 'DUPLICATE_REGISTERED', seen.text)
  t.is(seen.json.mode, 'FIELDS')
  t.true(seen.json.matches.some(({ class: of }: { class: string }) => of === 'EXACT'))
  t.is((await register(a, invoice)).status, 409)
  t.is((await register(b, { fingerprints })).status, 200, 'who holds it gets what it has')
  t.is((await act(b, made.json.registrationId, 'finance')).json.state, 'FINANCED')
  const own = await b.get(`/v1/first-financing/registrations/${made.json.registrationId}`)
  t.like(own.json, { mode: 'BLIND', receivable: { fields: null, rf1: fingerprints[0]?.rf1, lenderRef: 'ours' } })
  const [{ name, commitment }] = made.json.record.commitments
  t.is(name, 'rf1')
  const opened = { name, value: fingerprints[0]?.rf1 ?? '', salt: own.json.receivable.salts.rf1 }
  t.is(commitment, commitmentOf(opened), 'what opens the commitment is the owner’s')

  const other = receivable()
  await register(a, other)
  const blind = await check(b, { fingerprints: await blindFingerprints(b, other) })
  t.like(blind.json, { status: 'DUPLICATE_REGISTERED', mode: 'BLIND' })
  t.deepEqual(Object.keys(blind.json).sort(), ['asOf', 'checkId', 'matches', 'mode', 'record', 'status'])
})

test.serial('a blind duplicate is refused, disputed and transferred like one by fields', async (t) => {
  const [c, d] = [await openClient(product, base), await openClient(product, base)]
  const invoice = receivable()
  const fingerprints = await blindFingerprints(c, invoice)
  const { json: made } = await register(d, invoice)
  const refused = await register(c, { fingerprints })
  t.is(refused.status, 409)
  t.like(refused.json.errors[0], { path: 'fingerprints', code: 'EXACT' })
  const dispute = await c.post('/v1/first-financing/disputes', { fingerprints, reason: 'ours' })
  t.is(dispute.status, 201, dispute.text)
  await act(d, made.registrationId, 'finance')
  const { transferToken } = (await act(d, made.registrationId, 'transfer')).json
  const wrong = await c.post('/v1/first-financing/transfers/accept', {
    transferToken,
    fingerprints: [{ epoch: 2, rf1: random32(), rf2: random32(), rf3: random32() }],
  })
  t.is(wrong.status, 409)
  const taken = await c.post('/v1/first-financing/transfers/accept', { transferToken, fingerprints })
  t.is(taken.status, 201, taken.text)
  t.like(taken.json, { state: 'FINANCED', mode: 'BLIND' })
})

test.serial('32 random bytes match no registration', async (t) => {
  const given = { epoch: 2, rf1: random32(), rf2: random32(), rf3: random32() }
  const { json } = await check(a, { fingerprints: [given] })
  t.like(json, { status: 'CLEAN', mode: 'BLIND', matches: [] })
})

test.serial(
  'a blind check without match is UNRESOLVED while a registration exists only in an older epoch',
  async (t) => {
    const { db } = product
    const organisation = await db('organisations').where({ uuid: a.credentials.organisationId }).first('id')
    const recordId = '00000000-0000-4000-8000-00000000f001'
    await db('financing_fingerprints').insert({
      env: 'SANDBOX',
      epoch: 1,
      kind: 'RF1',
      fingerprint: randomBytes(32),
      organisation_id: organisation.id,
      state: 'REGISTERED',
      record_id: recordId,
    })
    const ask = async () => {
      const given = { epoch: 2, rf1: random32(), rf2: random32(), rf3: random32() }
      return (await check(b, { fingerprints: [given] })).json.status
    }
    t.is(await ask(), 'UNRESOLVED')
    t.is((await check(b, receivable())).json.status, 'CLEAN', 'by fields, every epoch is searched')
    await db('financing_fingerprints').where({ record_id: recordId }).update({ state: 'LAPSED' })
    t.is(await ask(), 'CLEAN')
  },
)

test.serial('invalid elements get 400 POINT_INVALID with their path', async (t) => {
  const client = await openClient(product, base)
  const good = element()
  const cases: [string, unknown[], string][] = [
    ['the identity', ['00'.repeat(32)], 'blinded[0]'],
    ['no canonical encoding', [good, 'ff'.repeat(32)], 'blinded[1]'],
    ['a wrong length', [good, good.slice(2)], 'blinded[1]'],
    ['no hex', [good.toUpperCase()], 'blinded[0]'],
  ]
  for (const [what, blinded, path] of cases) {
    const { status, json } = await evaluate(client, { epoch: 2, blinded })
    t.is(status, 400, what)
    t.like(json.errors[0], { path, code: 'POINT_INVALID' }, what)
  }
  const many = await evaluate(client, { epoch: 2, blinded: Array.from({ length: 65 }, () => good) })
  t.like(many.json.errors[0], { path: 'blinded', code: 'TOO_MANY' })
  const none = await evaluate(client, { epoch: 2, blinded: [] })
  t.like(none.json.errors[0], { path: 'blinded', code: 'TOO_FEW' })
  const late = await evaluate(client, { epoch: 7, blinded: [good] })
  t.is(late.status, 400)
  t.like(late.json.errors[0], { path: 'epoch', code: 'EPOCHS' })
})

test.serial('mixed forms, dead or repeated epochs, and a window get 400 with the member', async (t) => {
  const client = await openClient(product, base)
  const given = { epoch: 2, rf1: random32(), rf2: random32(), rf3: random32() }
  const cases: [object, string, string][] = [
    [{ ...receivable(), fingerprints: [given] }, 'fingerprints', 'UNKNOWN_FIELD'],
    [{ fingerprints: [{ ...given, epoch: 3 }] }, 'fingerprints', 'EPOCHS'],
    [{ fingerprints: [given, { ...given, epoch: 3 }] }, 'fingerprints', 'EPOCHS'],
    [{ fingerprints: [given, given] }, 'fingerprints', 'DUPLICATE'],
    [{ fingerprints: [given], window: true }, 'window', 'UNKNOWN_FIELD'],
    [{ fingerprints: [{ ...given, rf1: 'x' }] }, 'fingerprints[0].rf1', 'FORMAT'],
    [{ ...receivable(), documentNumber: undefined }, 'documentNumber', 'REQUIRED'],
  ]
  for (const [body, path, code] of cases) {
    const { status, json } = await check(client, body)
    t.is(status, 400)
    t.like(json.errors[0], { path, code })
  }
})

test.serial('elements and checks above the daily limit get 429 until midnight', async (t) => {
  const client = await openClient(product, base)
  const sixty = Array.from({ length: 60 }, element)
  t.is((await evaluate(client, { epoch: 2, blinded: sixty })).status, 200)
  const refused = await evaluate(client, { epoch: 2, blinded: sixty })
  t.is(refused.status, 429)
  t.true(Number(refused.headers.get('retry-after')) <= 86_400)
  t.is((await evaluate(client, { epoch: 2, blinded: sixty.slice(0, 40) })).status, 200, 'what is left is left')
  t.is((await check(client, receivable())).status, 429, 'a receivable by fields counts four')
  const given = () => ({ fingerprints: [{ epoch: 2, rf1: random32(), rf2: random32(), rf3: random32() }] })
  const statuses = await Promise.all(Array.from({ length: 21 }, async () => (await check(client, given())).status))
  t.deepEqual(statuses.toSorted(), [...Array.from({ length: 20 }, () => 200), 429])
})

test.serial('an evaluation can be read again by its id, only by its owner', async (t) => {
  const requested = await a.post(EVALUATE, { epoch: 2, blinded: [element()] }, { prefer: 'respond-async' })
  t.is(requested.status, 202)
  t.is(requested.headers.get('location'), requested.json.links.self)
  t.is((await b.get(requested.json.links.self)).status, 404)
  for (;;) {
    const polled = await a.get(requested.json.links.self)
    if (polled.status === 202) continue
    t.is(polled.status, 200)
    t.is(polled.json.evaluationId, requested.json.id)
    t.regex(polled.json.proof, /^[0-9a-f]{128}$/)
    break
  }
})
