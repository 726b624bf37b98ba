import { randomUUID } from 'node:crypto'
import test from 'ava'
import { payloadSha256 } from '#shared/anchoring/leaf.ts'
import { PackSchema } from '#shared/packs/pack-schema.ts'
import { demoRequest, openClient } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'

let product: Product
let base = ''

test.before(async () => {
  product = await openProduct()
  base = (await product.ingress()).base
  await product.workers(['pack-composer'])
})
test.after.always(() => product[Symbol.asyncDispose]())

test('a token and a request give a pack that is as the contract says', async (t) => {
  const client = await openClient(product, base)
  const answer = await client.post('/v1/po/risk-signals', demoRequest)
  t.is(answer.status, 200, answer.text)
  const pack = PackSchema.parse(answer.json)
  t.is(pack.signalLevel, 'CLEAR')
  t.is(pack.anchor.network, 'public-registry')
  t.is(pack.anchor.payloadSha256, payloadSha256(answer.json))
})

test('the same request with the same key gives the same bytes, once metered', async (t) => {
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
