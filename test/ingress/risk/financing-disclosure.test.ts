import test from 'ava'
import { openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { check, eventsOf, receivable, register } from './financing-support.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct({ workers: ['financing-registrar'] })
  base = product.url
})

const openOrganisation = () => openClient(product, base)
interface Match {
  class: string
  state: string
  ownRegistration: boolean
}

test('own registrations are listed as own; of others’ it is said that there are some, never how many', async (t) => {
  const [one, two, asker] = [await openOrganisation(), await openOrganisation(), await openOrganisation()]
  // The same parties, day and rupees under other numbers.
  const first = receivable()
  const again = () => ({ ...first, documentNumber: receivable().documentNumber })
  for (const [client, invoice] of [
    [one, first],
    [one, again()],
    [two, again()],
  ] as const)
    t.is((await register(client, invoice)).status, 201)
  const matchesOf = async (client: typeof one) => {
    const { json } = await check(client, again())
    const matches = json.matches.map(
      ({ class: of, state, ownRegistration }: Match) => `${of} ${state} ${ownRegistration}`,
    )
    return { status: json.status, matches: matches.toSorted() }
  }
  t.deepEqual(await matchesOf(asker), { status: 'POSSIBLE_MATCH', matches: ['ECONOMIC REGISTERED false'] })
  t.deepEqual(await matchesOf(one), {
    status: 'POSSIBLE_MATCH',
    matches: ['ECONOMIC REGISTERED false', 'ECONOMIC REGISTERED true'],
  })
  const own = await check(one, first)
  t.like(
    own.json.matches.find((match: Match) => match.class === 'EXACT'),
    { state: 'REGISTERED', ownRegistration: true, contested: false },
  )
})

test('what no other organisation holds is not disputed, and a dispute that is confirmed changes nothing', async (t) => {
  const [holder, other] = [await openOrganisation(), await openOrganisation()]
  const invoice = receivable()
  const dispute = (client: typeof holder) =>
    client.post('/v1/first-financing/disputes', { receivable: invoice, reason: 'we paid for it in April' })
  const notHeld = { status: 409, errors: [{ path: 'receivable', code: 'NOT_HELD' }] }
  t.like((await dispute(other)).json, notHeld)
  const { registrationId } = (await register(holder, invoice)).json
  t.like((await dispute(holder)).json, notHeld)
  const { disputeId } = (await dispute(other)).json
  const path = `/v1/first-financing/disputes/${disputeId}/answer`
  t.is((await holder.post(path, { answer: 'CONFIRM' })).json.state, 'CONFIRMED')
  const seen = await check(other, invoice)
  t.is(seen.json.status, 'DUPLICATE_REGISTERED')
  t.false(seen.json.matches[0].contested)
  t.like((await holder.get(`/v1/first-financing/registrations/${registrationId}`)).json, {
    state: 'REGISTERED',
    contested: false,
  })
  t.true((await eventsOf(product, holder)).includes('first_financing.disputed'))
  t.is((await dispute(other)).status, 201, 'the one before is no longer open')
})
