import test from 'ava'
import { openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { act, blindFingerprints, check, eventsOf, receivable, register } from './financing-support.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct({ workers: ['financing-registrar'] })
  base = product.url
})

const requireOrganisation = () => openClient(product, base)
interface Match {
  class: string
  state: string
  ownRegistration: boolean
}

test('own registrations are listed with their numbers, those of others without', async (t) => {
  const [one, two, third] = [await requireOrganisation(), await requireOrganisation(), await requireOrganisation()]
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
  t.deepEqual(await matchesOf(third), { status: 'POSSIBLE_MATCH', matches: ['ECONOMIC REGISTERED false'] })
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

test('a transfer is accepted only with the offered receivable', async (t) => {
  const [holder, buyer, third] = [await requireOrganisation(), await requireOrganisation(), await requireOrganisation()]
  const invoice = receivable({ documentNumber: `q/${Date.now() % 1e9}` })
  const { registrationId } = (await register(holder, invoice)).json
  await act(holder, registrationId, 'finance')
  const { transferToken } = (await act(holder, registrationId, 'transfer')).json
  const accept = (body: object) => buyer.post('/v1/first-financing/transfers/accept', { transferToken, ...body })
  for (const change of [
    { buyerGstin: '24AAFFS4321K1ZA' },
    { totalInr: invoice.totalInr + 1 },
    { documentDate: '2026-05-02' },
  ]) {
    const refused = await accept({ receivable: { ...invoice, ...change } })
    t.like(refused.json, { status: 409, errors: [{ code: 'OTHER_RECEIVABLE' }] }, JSON.stringify(change))
    const fingerprints = await blindFingerprints(buyer, { ...invoice, ...change })
    t.like((await accept({ fingerprints })).json, { status: 409, errors: [{ code: 'OTHER_RECEIVABLE' }] })
  }
  const again = await register(holder, { ...invoice, buyerGstin: '24AAFFS4321K1ZA' })
  t.is(again.json.registrationId, registrationId)
  const near = { ...invoice, documentNumber: invoice.documentNumber.replace('/', '-'), totalInr: 5 }
  const ofOtherBuyer = { ...near, buyerGstin: '24AAFFS4321K1ZA' }
  t.is((await check(third, ofOtherBuyer)).json.status, 'CLEAN', 'fingerprints of another buyer are not added')
  const spelled = { ...invoice, documentNumber: invoice.documentNumber.toUpperCase() }
  const taken = await accept({ receivable: spelled })
  t.is(taken.status, 201, taken.text)
  const { json } = await check(third, near)
  t.like(json, { status: 'POSSIBLE_MATCH', matches: [{ class: 'NEAR', state: 'FINANCED' }] })
  t.is((await check(third, ofOtherBuyer)).json.status, 'CLEAN')
})

test('a dispute requires another registration, and its confirmation changes nothing', async (t) => {
  const [holder, other] = [await requireOrganisation(), await requireOrganisation()]
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
