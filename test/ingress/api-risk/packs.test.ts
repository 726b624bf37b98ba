import { randomUUID } from 'node:crypto'
import test from 'ava'
import { PackSchema } from '#shared/risk/packs/pack-schema.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { demoRequest, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct({ workers: ['pack-composer'] })
  base = product.url
})

test('a token and a request give a pack that matches the contract', async (t) => {
  const client = await openClient(product, base)
  // Another organisation that presented the same parties and value would be a possible match.
  const answer = await client.post('/v1/po/risk-signals', { ...demoRequest, poValue: 1_250_019 })
  t.is(answer.status, 200, answer.text)
  const pack = PackSchema.parse(answer.json)
  t.is(pack.signalLevel, 'CLEAR')
  t.is(pack.anchor.network, 'public-registry')
  t.is(pack.anchor.payloadSha256, payloadSha256(answer.json))
})

test('a repeated request with the same key gets the same bytes and is metered once', async (t) => {
  const client = await openClient(product, base)
  const key = { 'x-idempotency-key': randomUUID() }
  const first = await client.post('/v1/po/risk-signals', demoRequest, key)
  const second = await client.post('/v1/po/risk-signals', demoRequest, key)
  t.is(first.status, 200)
  t.is(second.status, 200)
  t.is(second.text, first.text)
  t.is(second.headers.get('idempotent-replayed'), 'true')
  const usage = await client.get('/v1/usage')
  t.deepEqual(
    usage.json.usage.map((row: { family: string; units: number }) => [row.family, row.units]),
    [['risk-signals', 1]],
  )
})

test('usage is queried by days or instants; other values are refused by name', async (t) => {
  const client = await openClient(product, base)
  await client.post('/v1/po/risk-signals', demoRequest)
  const { date } = (await client.get('/v1/usage')).json.usage[0]
  const units = async (query: string) => (await client.get(`/v1/usage?${query}`)).json.usage.length
  t.is(await units(`from=${date}&to=${date}`), 1)
  t.is(await units(`from=${date}T23:59:59Z&to=${date}T00:00:00.000Z`), 1)
  t.is(await units(`from=${date}T23:30:00-01:00`), 0)
  t.is(await units(`to=${date}T00:30:00%2B01:00`), 0)
  for (const name of ['from', 'to']) {
    for (const value of ['0000-01-01', '9999-12-31', '2026-02-30', '2026-11-21T25:00:00Z', 'yesterday', '', '1e400']) {
      const answer = await client.get(`/v1/usage?${name}=${value}`)
      t.is(answer.status, 400, value)
      t.is(answer.json.errors[0].path, name)
    }
  }
  const cursor = (parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  for (const [path, parts] of [
    ['usage', ['0000-01-01', 'risk-signals', 'SANDBOX']],
    ['po/risk-signals/packs', [1e300, randomUUID()]],
    ['webhooks/events', ['0000-01-01T00:00:00Z', randomUUID()]],
    ['webhooks/endpoints', ['0000-01-01T00:00:00Z', randomUUID()]],
  ] as const) {
    t.is((await client.get(`/v1/${path}?cursor=${cursor([...parts])}`)).status, 400, path)
  }
})
