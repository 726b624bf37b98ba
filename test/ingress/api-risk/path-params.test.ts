import test from 'ava'
import { platformRoutes } from '../../../ingress/platform-routes.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let client: ApiClient

test.before(async () => {
  product = await sharedProduct()
  client = await openClient(product, product.url)
})

const headers = () => ({
  authorization: `Bearer ${client.token}`,
  'x-api-key': String(client.credentials.apiKey),
  'x-idempotency-key': crypto.randomUUID(),
  'content-type': 'application/json',
})

/** Parameters without a fixed form: references, logs, tiles and secrets of requests. */
const FREE = new Set(['receivableRef', 'ref', 'env', 'tile', 'handle', 'pathToken'])

const routes = platformRoutes.flatMap((route) => {
  const names = Object.keys(route.params).filter((name) => !FREE.has(name))
  return names.map((name) => ({ ...route, name }))
})

for (const { method, path, name, params } of routes)
  test(`${method} ${path} names a malformed ${name}`, async (t) => {
    const filled = path.replace(/\{(\w+)\}/g, (_, other: string) =>
      other === name ? 'not-an-id' : encodeURIComponent(params[other]?.example ?? ''),
    )
    const body = method === 'get' ? {} : { body: '{}' }
    const answer = await send(`${product.url}${filled}`, {
      method: method.toUpperCase(),
      headers: headers(),
      ...body,
    })
    t.is(answer.status, 400, answer.text)
    t.is(answer.json.errors[0].path, name)
  })

const hexadecimal = routes.filter(({ name, params }) => /^[0-9a-f-]{32,}$/.test(params[name]?.example ?? ''))

test('an id in upper case is malformed, not missing', async (t) => {
  t.true(hexadecimal.length > 20)
  const gets = hexadecimal.filter(({ method, name }) => method === 'get' && name !== 'txId')
  for (const { path, name, params } of gets) {
    const filled = path.replace(/\{(\w+)\}/g, (_, other: string) => {
      const example = params[other]?.example ?? ''
      return other === name ? example.replace(/[0-9a-f]/, 'A') : encodeURIComponent(example)
    })
    const answer = await send(`${product.url}${filled}`, { headers: headers() })
    t.like(answer.json, { status: 400, errors: [{ path: name }] }, filled)
  }
})

test('a malformed id is refused after the token and its scope', async (t) => {
  const narrow = await openClient(product, product.url, { families: ['kyb'] })
  const path = '/v1/trade/packs/not-an-id'
  t.is((await send(`${product.url}${path}`)).status, 401)
  t.is((await narrow.get(path)).status, 403)
  t.like((await client.get(path)).json, { code: 'VALIDATION_ERROR', errors: [{ path: 'tradePackId', code: 'FORMAT' }] })
})
