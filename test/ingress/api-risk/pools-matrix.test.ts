import { randomUUID } from 'node:crypto'
import test from 'ava'
import { platformRoutes } from '../../../ingress/platform-routes.ts'
import { openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { consumerOf, item, items } from './pools-support.ts'

let product: HttpProduct
let base = ''
let owner: ReturnType<typeof consumerOf>
let stranger: ReturnType<typeof consumerOf>
/** A pool with a cut, and an evaluation of it. */
const ids = { poolId: '', cutId: '', runId: '' }

const RULES = [{ id: 'small', field: 'amountInr', op: 'le', value: 150_000 }]

test.before(async () => {
  product = await sharedProduct({ workers: ['pool-builder'] })
  base = product.url
  owner = consumerOf(base, await openClient(product, base))
  stranger = consumerOf(base, await openClient(product, base))
  const made = await owner.post('/pools', { name: 'Pool 7', receivables: [item('R-1', { documentNumber: 'MINE/1' })] })
  ids.poolId = made.json.poolId
  const cut = await owner.post(`/pools/${ids.poolId}/cuts`, { cutOffDate: '2026-06-30' }, { prefer: 'wait=25' })
  ids.cutId = cut.json.cutRecordId
  const run = await owner.post(`/pools/${ids.poolId}/eligibility`, { rules: RULES }, { prefer: 'wait=25' })
  ids.runId = run.json.runId
})

const routes = platformRoutes.filter(({ path }) => path.startsWith('/v1/securitisation/'))
for (const { method, path } of routes) {
  const under = path.replace('/v1/securitisation', '')
  const filled = (of: Record<string, string>) => under.replace(/\{(\w+)\}/g, (_, name) => of[name] ?? randomUUID())
  const body = path.endsWith('/cuts')
    ? { cutOffDate: '2026-06-30' }
    : path.endsWith('/receivables')
      ? { receivables: items(1, 'X') }
      : path.endsWith('/eligibility')
        ? { rules: RULES }
        : { name: 'x' }
  const query = path.endsWith('/proof') ? `?receivableId=${randomUUID()}` : ''

  test(`${method} ${path} requires the right kind of key`, async (t) => {
    const url = `${base}/v1/securitisation${filled({})}${query}`
    const { status } = await send(url, { method: method.toUpperCase() })
    t.is(status, 401)
    t.is((await send(url, { method: method.toUpperCase(), headers: { 'x-api-key': 'wrong' } })).status, 401)
  })

  if (under.includes('{'))
    test(`${method} ${path} of another organisation is answered like one that does not exist`, async (t) => {
      const ask = (to: string) => (method === 'get' ? stranger.get(`${to}${query}`) : stranger.post(to, body))
      const bare = ({ json: { requestId: _id, instance: _path, ...rest } }: Awaited<ReturnType<typeof ask>>) => rest
      const foreign = await ask(filled({ ...ids, ref: encodeURIComponent('MINE/1') }))
      t.is(foreign.status, 404, foreign.text)
      const missing = randomUUID()
      const text = JSON.stringify(bare(await ask(filled({ ref: missing }))))
      t.deepEqual(bare(foreign), JSON.parse(text.replaceAll(missing, 'MINE/1')))
    })

  if (method === 'post')
    test(`${method} ${path} needs an idempotency key, repeats its answer, and refuses hostile bodies`, async (t) => {
      const to = filled(ids)
      t.is((await owner.post(to, body, { 'x-idempotency-key': '' })).json.code, 'IDEMPOTENCY_KEY_REQUIRED')
      const key = { 'x-idempotency-key': `again ${path}`.replaceAll(/[^a-z0-9]/gi, '-'), prefer: 'wait=25' }
      const first = await owner.post(to, body, key)
      t.is(first.status, 201, first.text)
      t.is((await owner.post(to, body, key)).text, first.text)
      for (const hostile of ['{"name":"a\\u0000b"}', '{"name":"a","name":"b"}', '[1]', '{"a":', '['.repeat(10_000)])
        t.is((await owner.post(to, hostile)).status, 400, hostile.slice(0, 30))
      const unknown = await owner.post(to, { ...body, surprise: 1 })
      t.like(unknown.json, { status: 400, errors: [{ path: 'surprise', code: 'UNKNOWN_FIELD' }] })
    })
}
