import { randomUUID } from 'node:crypto'
import test from 'ava'
import { queueOf } from '#shared/contracts/define-message.ts'
import { EVENTS_EXCHANGE } from '#shared/contracts/topology.ts'
import { packRequested } from '#shared/contracts/worker-messages.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, demoRequest, openClient } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'

/** Counts the rows that a pack must have exactly once. */
async function countsOf(product: Product, packId: string) {
  const { db } = product
  const pack = await db('packs').where({ id: packId }).first('state', 'tx_id', 'body')
  const count = async (table: string, where: object) => (await db(table).where(where)).length
  return {
    state: pack.state,
    evidence: await count('pack_evidence', { pack_id: packId }),
    units: await count('usage_units', { unit_key: `pack/${packId}` }),
    entries: pack.tx_id ? await count('log_entries', { leaf_hash: pack.tx_id }) : 0,
    events: await count('events', { deal_id: packId }),
  }
}

const once = { state: 'READY', evidence: 1, units: 1, entries: 1, events: 1 }

async function storedJob(product: Product): Promise<{ id: string }> {
  return await eventually('the job to be stored', async () => {
    const [job] = await product.db<{ id: string }>('packs').select('id')
    return job
  })
}

async function requestAsync(client: ApiClient): Promise<string> {
  const { status, json, text } = await client.post('/v1/po/risk-signals', demoRequest, { prefer: 'respond-async' })
  if (status !== 202) throw new Error(text)
  return json.packId
}

async function finished(client: ApiClient, packId: string) {
  return await eventually('the pack to be composed', async () => {
    const answer = await client.get(`/v1/po/risk-signals/packs/${packId}`)
    return answer.status === 202 ? undefined : answer
  })
}

const BEFORE_ACK = `before-ack-of-${queueOf(packRequested, 'pack-composer')}`

for (const point of ['pack-gathered', 'pack-half-stored', 'pack-stored', BEFORE_ACK]) {
  test.serial(`a composer killed at ${point} leaves one pack, one unit and one log entry`, async (t) => {
    await using product = await openProduct()
    const { base } = await product.ingress()
    const client = await openClient(product, base)
    const packId = await requestAsync(client)
    const killed = product.spawn('workers', ['pack-composer'], { CRASH_AT: point })
    t.is(await killed.exited, null)
    const afterCrash = await countsOf(product, packId)
    // Either everything was committed, or nothing.
    t.deepEqual(
      afterCrash,
      afterCrash.state === 'READY' ? once : { state: 'QUEUED', evidence: 0, units: 0, entries: 0, events: 0 },
    )
    await product.workers(['pack-composer'])
    t.is((await finished(client, packId)).status, 200)
    const later = await requestAsync(client)
    await finished(client, later)
    t.deepEqual(await countsOf(product, packId), once)
  })
}

test.serial('a message published five times to two composers has one effect', async (t) => {
  await using product = await openProduct()
  const { base, deps } = await product.ingress()
  const client = await openClient(product, base)
  await product.workers(['pack-composer'])
  const other = await product.workers(['pack-composer'])
  const packId = await requestAsync(client)
  const messageId = randomUUID()
  const copy = {
    exchange: EVENTS_EXCHANGE,
    routingKey: packRequested.name,
    body: Buffer.from(JSON.stringify({ packId })),
    messageId,
    type: packRequested.name,
    headers: { v: packRequested.version },
  }
  await Promise.all(Array.from({ length: 5 }, () => deps.broker.publish(copy)))
  const first = await finished(client, packId)
  await Promise.all(Array.from({ length: 5 }, () => deps.broker.publish(copy)))
  // A later pack shows that all earlier messages were handled.
  await finished(client, await requestAsync(client))
  t.deepEqual(await countsOf(product, packId), once)
  t.is((await client.get(`/v1/po/risk-signals/packs/${packId}`)).text, first.text)
  await other[Symbol.asyncDispose]()
})

test.serial('a pack requested without a running composer is composed after its start', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  const key = { 'x-idempotency-key': randomUUID(), prefer: 'wait=1' }
  const waiting = client.post('/v1/po/risk-signals', demoRequest, { ...key, prefer: 'wait=25' })
  await eventually('the job to be stored', async () => (await product.db('packs').select('id')).length === 1)
  const meanwhile = await client.post('/v1/po/risk-signals', demoRequest, key)
  t.is(meanwhile.status, 409)
  t.is(meanwhile.json.code, 'IDEMPOTENCY_IN_PROGRESS')
  await product.workers(['pack-composer'])
  const answer = await waiting
  t.is(answer.status, 200)
  const again = await client.post('/v1/po/risk-signals', demoRequest, key)
  t.is(again.text, answer.text)
})

test.serial('a caller that disconnects does not end its job', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  const gone = new AbortController()
  const request = fetch(`${base}/v1/po/risk-signals`, {
    method: 'POST',
    body: JSON.stringify(demoRequest),
    headers: {
      authorization: `Bearer ${client.token}`,
      'content-type': 'application/json',
      'x-idempotency-key': randomUUID(),
      prefer: 'wait=25',
    },
    signal: gone.signal,
  })
  const job = await storedJob(product)
  gone.abort()
  await t.throwsAsync(request)
  await product.workers(['pack-composer'])
  t.is((await finished(client, job.id)).status, 200)
})

test.serial('an undecryptable request becomes an unmetered failure and frees its key', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  const key = { 'x-idempotency-key': randomUUID() }
  const waiting = client.post('/v1/po/risk-signals', demoRequest, key)
  const job = await storedJob(product)
  await product.db('packs').where({ id: job.id }).update({ sealed_request: 'v1.AAAA' })
  await product.workers(['pack-composer'])
  const answer = await waiting
  t.is(answer.status, 500)
  t.is(answer.json.code, 'INTERNAL')
  t.is((await client.get(`/v1/po/risk-signals/packs/${job.id}`)).status, 500)
  t.deepEqual((await client.get('/v1/usage')).json.usage, [])
  t.is((await client.post('/v1/po/risk-signals', demoRequest, key)).status, 200)
})
