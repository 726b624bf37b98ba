import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { act, check, eventsOf, receivable, register } from '../ingress/api-risk/financing-support.ts'
import { eventually } from '../support/eventually.ts'
import { type ApiClient, clientWith, openClient, type Reply } from '../support/platform-client.ts'
import { openProduct, type Product } from '../support/product.ts'
import { handledBy } from './fault-metrics.ts'

async function twoOf(product: Product) {
  const [one, two] = [(await product.ingress()).base, (await product.ingress()).base]
  const a = await openClient(product, one)
  const b = await openClient(product, two)
  return { a, aElsewhere: clientWith(two, a.token, a.credentials), b }
}

const idsOf = (answers: readonly Reply[]) =>
  new Set(answers.filter(({ status }) => status < 300).map(({ json }) => json.registrationId))

test.serial('one of twenty concurrent registrations by two organisations is first', async (t) => {
  await using product = await openProduct()
  await product.workers(['financing-registrar'])
  await product.workers(['financing-registrar'])
  const { a, aElsewhere, b } = await twoOf(product)
  for (let round = 0; round < 2; round++) {
    const invoice = receivable()
    const clients: ApiClient[] = Array.from({ length: 20 }, (_, n) => [a, aElsewhere, b, b][n % 4] ?? a)
    const answers = await Promise.all(clients.map((client) => register(client, invoice)))
    t.is(idsOf(answers).size, 1)
    t.true(answers.every(({ status }) => [200, 201, 409].includes(status)))
    t.is(answers.filter(({ status }) => status === 201).length, 1)
    const [id] = idsOf(answers)
    const rows = await product.db('financing_fingerprints').where({ record_id: id, kind: 'RF1' })
    t.is(rows.length, 1)
  }
  t.is((await product.db('financing_registrations')).length, 2)
})

test.serial('if a registrar is killed while it stores, another one stores the registration once', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  const spawnDying = (point: string) => product.spawn('workers', ['financing-registrar'], { CRASH_AT: point })
  // The first process dies in its transaction, and the second one after the commit and before its acknowledgement.
  const dying = spawnDying('job-half-stored')
  const invoice = receivable()
  const key = { 'x-idempotency-key': randomUUID(), prefer: 'respond-async' }
  const accepted = await client.post('/v1/first-financing/registrations', invoice, key)
  t.is(accepted.status, 202, accepted.text)
  t.is(await dying.exited, null)
  t.is((await product.db('financing_registrations')).length, 0)
  t.is(await spawnDying('job-stored').exited, null)
  const successor = await product.workers(['financing-registrar'])
  const made = await eventually('the registration', async () => {
    const answer = await client.get(String(accepted.headers.get('location')))
    return answer.status === 200 ? answer : undefined
  })
  await handledBy(successor)
  t.is((await register(client, invoice)).json.registrationId, made.json.registrationId)
  t.is((await product.db('financing_registrations')).length, 1)
  t.deepEqual(await eventsOf(product, client), ['first_financing.registered'])
  t.is((await product.db('usage_units').where({ family: 'first-financing' })).length, 1)
})

test.serial('two sweepers lapse a registration once; it is free before their sweep', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const workers = await product.workers(['financing-registrar'])
  const [a, b] = [await openClient(product, base), await openClient(product, base)]
  const [late, taken] = [receivable(), receivable()]
  const { json } = await register(a, late)
  const over = await register(a, taken)
  await product.db('financing_registrations').update({ expires_at: new Date(Date.now() - 60_000) })
  t.is((await check(b, taken)).json.status, 'CLEAN')
  t.is((await register(b, taken)).status, 201)
  t.is((await act(a, over.json.registrationId, 'finance')).status, 409)
  await product.workers(['sweeper'])
  await product.workers(['sweeper'])
  await eventually('the lapse', async () => {
    return (await a.get(`/v1/first-financing/registrations/${json.registrationId}`)).json.state === 'LAPSED'
  })
  // The two may lapse in different sweeps.
  const lapsed = async () => (await eventsOf(product, a)).filter((type) => type === 'first_financing.lapsed').length
  await eventually('both to have lapsed', async () => (await lapsed()) >= 2)
  t.is(await lapsed(), 2, 'one for each')
  t.truthy(workers)
})

test.serial('an unanswered dispute marks the registration as contested, visible to every organisation', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  await product.workers(['financing-registrar'])
  const [a, b] = [await openClient(product, base), await openClient(product, base)]
  const invoice = receivable()
  await register(a, invoice)
  const opened = await b.post('/v1/first-financing/disputes', { receivable: invoice, reason: 'ours' })
  await product.db('financing_disputes').update({ answer_by: new Date(Date.now() - 60_000) })
  await product.workers(['sweeper'])
  await eventually(
    'the registration to be contested',
    async () => (await check(b, invoice)).json.matches[0]?.contested === true,
  )
  t.is((await b.get(`/v1/first-financing/disputes/${opened.json.disputeId}`)).json.state, 'UNANSWERED')
})

test.serial('fingerprints survive a rotation of SECRET_KEY', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const before = await product.workers(['financing-registrar'])
  const [a, b] = [await openClient(product, base), await openClient(product, base)]
  const invoice = receivable()
  await register(a, invoice)
  await before[Symbol.asyncDispose]()
  const rotated = createSecrets('f'.repeat(31) + randomUUID(), product.config.secretKey)
  await product.workers(['financing-registrar'], { secrets: rotated })
  t.is((await check(b, invoice)).json.status, 'DUPLICATE_REGISTERED')
})
