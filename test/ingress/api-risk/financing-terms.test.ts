import test from 'ava'
import { addDays, indianDay } from '#shared/risk/packs/money.ts'
import { eventually } from '../../support/eventually.ts'
import { openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { act, check, eventsOf, receivable, register } from './financing-support.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct({
    env: { FINANCING_OPEN_REGISTRATIONS: '2' },
    workers: ['financing-registrar', 'sweeper'],
  })
  base = product.url
})

test('limits registrations at one time by the setting, and meters each one', async (t) => {
  const own = await openClient(product, base)
  const first = await register(own, receivable())
  t.is((await register(own, receivable())).status, 201)
  const third = receivable()
  const refused = await register(own, third)
  t.is(refused.status, 429, refused.text)
  t.is(refused.json.code, 'RATE_LIMITED')
  t.is((await act(own, first.json.registrationId, 'cancel')).status, 200)
  t.is((await register(own, third)).status, 201)
  t.like((await own.get('/v1/usage')).json.usage, [{ family: 'first-financing', units: 3 }])
})

const DAY_MS = 86_400_000

test('holds a financed receivable for the stated days from the later of date and today', async (t) => {
  const own = await openClient(product, base)
  const today = indianDay(Date.now())
  const until = (day: string, days: number) => new Date(`${addDays(day, days)}T00:00:00+05:30`).toISOString()
  const finance = async (more: object, details: object) => {
    const { registrationId } = (await register(own, { ...receivable(), ...more })).json
    return (await act(own, registrationId, 'finance', details)).json
  }
  const dueDate = addDays(today, 60)
  t.is((await finance({ dueDate }, {})).expiresAt, until(dueDate, 180))
  const early = await finance({}, { financedOn: '2026-04-30' })
  t.like(early, { status: 400, errors: [{ path: 'financedOn', code: 'TOO_EARLY' }] })
  const long = await finance({}, { financedOn: '2026-05-02' })
  t.is(long.expiresAt, until(today, 365))
  const renewed = await act(own, long.registrationId, 'renew')
  t.is(Date.parse(renewed.json.expiresAt) - Date.parse(long.expiresAt), 180 * DAY_MS)
})

test('keeps an overdue receivable financed for its first holder', async (t) => {
  const [own, other] = [await openClient(product, base), await openClient(product, base)]
  const invoice = receivable({ documentDate: '2025-01-10' })
  const { json: made } = await register(own, { ...invoice, dueDate: '2025-02-10' })
  const financed = await act(own, made.registrationId, 'finance')
  t.like(financed.json, { state: 'FINANCED' })
  t.true(Date.parse(financed.json.expiresAt) > Date.now() + 179 * DAY_MS)
  t.is((await check(other, invoice)).json.status, 'DUPLICATE_FINANCED')
  t.is((await register(other, invoice)).status, 409)
})

test('the owner is notified once, two weeks before a financing lapses', async (t) => {
  const own = await openClient(product, base)
  const made = [await register(own, receivable()), await register(own, receivable())].map(({ json }) => json)
  const [soon, later] = made
  for (const { registrationId } of made) await act(own, registrationId, 'finance')
  const day = (days: number) => new Date(Date.now() + days * 86_400_000)
  const rows = (id: string) => product.db('financing_registrations').where({ id })
  await rows(later.registrationId).update({ expires_at: day(15) })
  await rows(soon.registrationId).update({ expires_at: day(13) })
  const notified = async () => (await eventsOf(product, own)).filter((type) => type === 'first_financing.lapsed').length
  await eventually('the notice', async () => (await notified()) === 1)
  const event = await product.db('events').where({ type: 'first_financing.lapsed' }).first()
  t.deepEqual(JSON.parse(event.body).fields, ['registrationId', 'expiresAt'])
  t.is(event.deal_id, soon.registrationId)
  t.not((await rows(soon.registrationId).first('warned_at')).warned_at, null)
  t.is((await rows(later.registrationId).first('warned_at')).warned_at, null)
  t.is((await own.get(`/v1/first-financing/registrations/${soon.registrationId}`)).json.state, 'FINANCED')
})

test('a transfer token is valid for 72 hours and keeps the first-seen time', async (t) => {
  const [holder, buyer, third] = [
    await openClient(product, base),
    await openClient(product, base),
    await openClient(product, base),
  ]
  const invoice = receivable()
  const { registrationId } = (await register(holder, invoice)).json
  await act(holder, registrationId, 'finance')
  const seen = { first_seen_at: '2026-03-15T06:30:00.123456Z' }
  await product.db('financing_registrations').where({ id: registrationId }).update(seen)
  await product.db('financing_fingerprints').where({ record_id: registrationId }).update(seen)
  const offer = async () => (await act(holder, registrationId, 'transfer')).json.transferToken
  const accept = (transferToken: string) =>
    buyer.post('/v1/first-financing/transfers/accept', { transferToken, receivable: invoice })
  const older = async (age: string) => {
    const offers = product.db('financing_transfers').where({ registration_id: registrationId })
    await offers.update({ expires_at: product.db.raw('expires_at - ?::interval', [age]) })
  }

  const late = await offer()
  await older('72 hours 1 second')
  t.is((await accept(late)).status, 404, 'its time is over')
  const token = await offer()
  await older('71 hours 50 minutes')
  t.is((await accept(late)).status, 404, 'a new offer replaces the one before')
  const taken = await accept(token)
  t.is(taken.status, 201, taken.text)
  const firstSeen = await product.db('financing_registrations').select('id', 'first_seen_at').orderBy('created_at')
  const own = firstSeen.filter(({ id }) => id === registrationId || id === taken.json.registrationId)
  t.deepEqual(
    own.map(({ first_seen_at: at }) => at.toISOString()),
    ['2026-03-15T06:30:00.123Z', '2026-03-15T06:30:00.123Z'],
  )
  const { json } = await check(third, invoice)
  t.is(json.status, 'DUPLICATE_FINANCED')
  t.deepEqual(
    new Set(json.matches.map(({ firstSeenMonth }: { firstSeenMonth: string }) => firstSeenMonth)),
    new Set(['2026-03']),
  )
})
