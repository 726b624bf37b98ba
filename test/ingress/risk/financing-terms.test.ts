import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { openClient } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'
import { act, eventsOf, receivable, register } from './financing-support.ts'

let product: Product
let base = ''

test.before(async () => {
  product = await openProduct({ isBound: true, env: { FINANCING_OPEN_REGISTRATIONS: '2' } })
  base = (await product.ingress()).base
  await product.workers(['financing-registrar', 'sweeper'])
})
test.after.always(() => product?.[Symbol.asyncDispose]())

test('who registers and cancels in a loop pays for each, and holds no more at once than the setting lets', async (t) => {
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

test('what is financed lapses 180 days after it is due, else a year after the financing; a renewal adds 180', async (t) => {
  const own = await openClient(product, base)
  const finance = async (more: object) => {
    const { registrationId } = (await register(own, { ...receivable(), ...more })).json
    const path = `/v1/first-financing/registrations/${registrationId}/finance`
    return { registrationId, expiresAt: (await own.post(path, { financedOn: '2026-05-02' })).json.expiresAt }
  }
  const due = await finance({ dueDate: '2026-08-01' })
  t.is(due.expiresAt, '2027-01-27T18:30:00.000Z', 'the Indian day 180 days after the first of August')
  const without = await finance({})
  t.is(without.expiresAt, '2027-05-01T18:30:00.000Z')
  const renewed = await act(own, without.registrationId, 'renew')
  t.is(renewed.json.expiresAt, '2027-10-28T18:30:00.000Z')
})

test('two weeks before what is financed lapses its owner is told, once', async (t) => {
  const own = await openClient(product, base)
  const made = [await register(own, receivable()), await register(own, receivable())].map(({ json }) => json)
  const [soon, later] = made
  for (const { registrationId } of made) await act(own, registrationId, 'finance')
  const day = (days: number) => new Date(Date.now() + days * 86_400_000)
  const rows = (id: string) => product.db('financing_registrations').where({ id })
  await rows(later.registrationId).update({ expires_at: day(15) })
  await rows(soon.registrationId).update({ expires_at: day(13) })
  const told = async () => (await eventsOf(product, own)).filter((type) => type === 'first_financing.lapsed').length
  await eventually('the notice', async () => (await told()) === 1, 60_000)
  const event = await product.db('events').where({ type: 'first_financing.lapsed' }).first()
  t.deepEqual(JSON.parse(event.body).fields, ['registrationId', 'expiresAt'])
  t.is(event.deal_id, soon.registrationId)
  t.not((await rows(soon.registrationId).first('warned_at')).warned_at, null)
  t.is((await rows(later.registrationId).first('warned_at')).warned_at, null)
  t.is((await own.get(`/v1/first-financing/registrations/${soon.registrationId}`)).json.state, 'FINANCED')
})
