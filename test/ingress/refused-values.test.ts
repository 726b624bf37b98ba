import test from 'ava'
import { documentedRoutes } from '../../ingress/openapi.ts'
import type { Route } from '../../ingress/route.ts'
import { type ApiClient, openClient, send } from '../support/platform-client.ts'
import type { HttpProduct } from '../support/product.ts'
import { addProject, type TestProject } from '../support/projects.ts'
import { sharedProduct } from '../support/shared-product.ts'

let product: HttpProduct
let client: ApiClient
let project: TestProject

test.before(async () => {
  product = await sharedProduct()
  client = await openClient(product, product.url)
  project = await addProject(product.deps)
})

const LIBRARY = /Too (?:small|big)|Invalid (?:input|option|string|key|element)|Unrecognized|expected \w+, received/

/** Bodies that every operation refuses: other types, unknown and empty members. */
const bodies = ['[]', '{"unknown":1}', '{"name":[],"steps":{},"config":5,"receivable":1,"query":[],"object":1}', '"x"']

function pathOf({ path, params }: Route): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURI(params[name]?.example ?? ''))
}

function headersOf({ path }: Route): Record<string, string> {
  if (path.startsWith('/api/')) return { 'x-api-key': project.rwKey, 'content-type': 'application/json' }
  return {
    authorization: `Bearer ${client.token}`,
    'x-api-key': String(client.credentials.apiKey),
    'x-idempotency-key': crypto.randomUUID(),
    'content-type': 'application/json',
  }
}

/** Requests with a wrong value: in each parameter of the query, or in the body. */
function requestsOf(route: Route): { url: string; init: RequestInit }[] {
  const init = { method: route.method.toUpperCase(), headers: headersOf(route) }
  const url = `${product.url}${pathOf(route)}`
  const names = Object.keys(route.query?.shape ?? {})
  const query = new URLSearchParams(names.map((name) => [name, `${name} 0`]))
  query.set('unknown', '1')
  if (route.method === 'get') return [{ url: `${url}?${query}`, init }]
  return bodies.map((body) => ({ url, init: { ...init, body } }))
}

for (const route of documentedRoutes.filter(({ deprecated }) => !deprecated))
  test(`${route.operationId} refuses wrong values without a text of the schema library`, async (t) => {
    for (const { url, init } of requestsOf(route)) {
      const { status, text } = await send(url, init)
      t.not(status, 500, text)
      t.notRegex(text, LIBRARY, `${init.method} ${url} ${init.body ?? ''}`)
      if (status !== 400 || !text.startsWith('{"type"')) continue
      for (const { path, code, message } of JSON.parse(text).errors) {
        t.regex(code, /^[A-Z][A-Z_]+$/)
        t.true(path === '' || message.includes(path), message)
      }
    }
  })
