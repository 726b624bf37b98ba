import { randomInt, randomUUID } from 'node:crypto'
import test from 'ava'
import { receivable } from '../ingress/api-risk/financing-support.ts'
import { createVisitor } from '../ingress/web/visitor.ts'
import { eventually } from '../support/eventually.ts'
import { type ApiClient, clientWith, openClient } from '../support/platform-client.ts'
import { openProduct, type Product } from '../support/product.ts'
import { handledBy } from './fault-metrics.ts'

/** Starts two listeners and, if given, two processes of a worker. The client can use either listener. */
async function openPair(product: Product, worker?: string) {
  const [one, two] = [(await product.ingress()).base, (await product.ingress()).base]
  if (worker !== undefined) for (let n = 0; n < 2; n++) await product.workers([worker])
  const client = await openClient(product, one)
  const clients = [client, clientWith(two, client.token, client.credentials)] as const
  /** sends `count` requests at once, half of them through each listener */
  const requestAll = <T>(count: number, send: (through: ApiClient, n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => send(n % 2 === 0 ? clients[0] : clients[1], n)))
  return { one, two, client, requestAll }
}

const KINDS = [
  {
    worker: 'kyb-verifier',
    path: '/v1/kyb/verifications',
    body: { gstin: '29AAACR5678D1Z5' },
    event: 'kyb.completed',
    family: 'kyb',
    table: 'entities',
  },
  {
    worker: 'acceptance-recorder',
    path: '/v1/acceptance/records',
    body: { receivableRef: 'R-1', channel: 'IMS', action: 'ACCEPTED', at: '2026-06-20T18:30:00Z' },
    event: 'acceptance.recorded',
    family: 'acceptance',
    table: 'acceptance_records',
  },
] as const

for (const { worker, path, body, event, family, table } of KINDS)
  test.serial(`if a ${worker} is killed while it stores a job, another one completes the job once`, async (t) => {
    await using product = await openProduct()
    const { base } = await product.ingress()
    const client = await openClient(product, base)
    // The first process dies in its transaction, and the second one after the commit and before its acknowledgement.
    const dying = product.spawn('workers', [worker], { CRASH_AT: 'job-half-stored' })
    const accepted = await client.post(path, body, { 'x-idempotency-key': randomUUID(), prefer: 'respond-async' })
    t.is(accepted.status, 202, accepted.text)
    t.is(await dying.exited, null)
    t.is((await product.db(table)).length, 0)
    t.is(await product.spawn('workers', [worker], { CRASH_AT: 'job-stored' }).exited, null)
    const successor = await product.workers([worker])
    await eventually('the resource', async () => {
      return (await client.get(String(accepted.headers.get('location')))).status === 200
    })
    await handledBy(successor)
    t.is((await product.db(table)).length, 1)
    t.is((await product.db('usage_units').where({ family })).length, 1)
    t.is((await product.db('events').where({ type: event })).length, 1)
  })

test.serial('equal requests through two listeners share one job and get the same answer', async (t) => {
  await using product = await openProduct()
  const { requestAll } = await openPair(product, 'kyb-verifier')
  const key = { 'x-idempotency-key': randomUUID(), prefer: 'wait=25' }
  const answers = await requestAll(12, (client) =>
    client.post('/v1/kyb/verifications', { gstin: '29AAACR5678D1Z5' }, key),
  )
  const done = answers.filter(({ status }) => status === 201)
  t.true(done.length >= 1)
  t.is(new Set(done.map(({ text }) => text)).size, 1)
  t.true(answers.every(({ status, json }) => status === 201 || json.code === 'IDEMPOTENCY_IN_PROGRESS'))
  t.is((await product.db('evidence_jobs')).length, 1)
  t.is((await product.db('usage_units')).length, 1)
})

test.serial(
  'concurrent verifications of one business, through two listeners and two workers, create one entity',
  async (t) => {
    await using product = await openProduct()
    const { requestAll } = await openPair(product, 'kyb-verifier')
    const bodies = [
      { gstin: '29AAACR5678D1Z5' },
      { cin: 'U28999MH2015PTC123456', pan: 'AAACR5678D' },
      { pan: 'AAACR5678D' },
    ]
    const answers = await requestAll(12, (client, n) =>
      client.post('/v1/kyb/verifications', bodies[n % 3], { prefer: 'wait=25' }),
    )
    t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    t.is(new Set(answers.map(({ json }) => json.vei)).size, 1)
    t.is((await product.db('entities')).length, 1)
    t.is((await product.db('usage_units')).length, 12)
  },
)

test.serial('concurrent requests for the dilution of a pair are measured and metered once', async (t) => {
  await using product = await openProduct()
  const { requestAll } = await openPair(product, 'dilution-measurer')
  const path = '/v1/risk-signals/anti-dilution?supplierGstin=29AAACR5678D1Z5&buyerGstin=27AAACB1234C1ZF'
  const answers = await requestAll(10, (client) => client.get(path, { prefer: 'wait=25' }))
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.is(new Set(answers.map(({ text }) => text)).size, 1)
  t.is((await product.db('usage_units')).length, 1)
})

test.serial('concurrent answers to a link create one record, and each concurrent wrong code is counted', async (t) => {
  await using product = await openProduct()
  const { one, two, client } = await openPair(product)
  const requestAcceptance = async () => {
    const body = { receivableRef: `RCV-${randomInt(1e9)}`, receivable: receivable(), buyerEmail: 'buyer@example.com' }
    const path = new URL((await client.post('/v1/acceptance/requests', body)).json.sandboxUrl).pathname
    const buyer = createVisitor(one)
    await buyer.post(`${path}/code`, {}, path)
    const code = /Your code is ([0-9]{6})/.exec((await buyer.get(path)).text)?.[1] ?? ''
    return { path, code }
  }
  const answerAll = async (path: string, code: string, count: number) => {
    const visitors = Array.from({ length: count }, (_, n) => createVisitor(n % 2 === 0 ? one : two))
    const tokens = await Promise.all(visitors.map((visitor) => visitor.token(path)))
    return await Promise.all(
      visitors.map((visitor, n) =>
        visitor.send(`${path}/answer`, {
          _csrf: tokens[n] ?? '',
          code,
          action: n % 3 === 0 ? 'ACCEPTED' : 'REJECTED',
        }),
      ),
    )
  }
  const right = await requestAcceptance()
  const answers = await answerAll(right.path, right.code, 6)
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 409, 409, 409, 409, 409])
  t.is((await product.db('acceptance_records')).length, 1)
  t.is((await product.db('usage_units')).length, 1)

  const guessed = await requestAcceptance()
  const guesses = await answerAll(guessed.path, guessed.code === '000000' ? '000001' : '000000', 8)
  t.deepEqual(guesses.map(({ status }) => status).toSorted(), [400, 400, 400, 400, 400, 409, 409, 409])
  t.is((await product.db('acceptance_records')).length, 1)
})
