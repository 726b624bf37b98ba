import { readFileSync } from 'node:fs'
import test from 'ava'
import { OFFERED_SCOPES } from '#shared/tenancy/oauth/families.ts'
import { openApiText } from '../../../ingress/admin/generate.ts'
import { documentedRoutes, openApiDocument } from '../../../ingress/openapi.ts'
import type { Route } from '../../../ingress/route.ts'
import type { HttpProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

interface Operation {
  operationId: string
  deprecated?: boolean
  security: object[]
}

const document = openApiDocument() as unknown as {
  paths: Record<string, Record<string, Operation>>
  components: object
}

test('docs/openapi.json matches the routes (npm run -s admin -- openapi --write)', (t) => {
  t.is(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'), openApiText())
})

test('the document is served as it is committed', async (t) => {
  const answer = await send(app.url, '/openapi.json')
  t.is(answer.headers['content-type'], 'application/json; charset=utf-8')
  t.deepEqual(jsonOf(answer), JSON.parse(openApiText()))
})

test('an operation that the document calls deprecated answers with the header Deprecation', async (t) => {
  const stated = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.values(operations).map(({ deprecated }) => [path, deprecated === true] as const),
  )
  for (const path of ['/api/v1/checks/', '/api/v2/checks/', '/api/v3/checks/']) {
    const isDeprecated = stated.some(([other, deprecated]) => other === path && deprecated)
    t.is(isDeprecated, path !== '/api/v3/checks/')
    const header = isDeprecated ? `@${Date.parse('2026-11-28') / 1000}` : undefined
    t.is((await send(app.url, path)).headers.deprecation, header, path)
  }
})

test('operation names are unique, and no two paths differ only in parameter names', (t) => {
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((it) => it.operationId))
  t.deepEqual(new Set(ids).size, ids.length)
  const shapes = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'))
  t.deepEqual(new Set(shapes).size, shapes.length)
})

test('every reference leads to a schema of the document', (t) => {
  const text = JSON.stringify(document)
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map((match) => match[1])
  t.true(references.length > 0)
  const schemas = Object.keys((document.components as { schemas: object }).schemas)
  for (const reference of references) t.true(schemas.includes(String(reference)), reference)
})

test('every documented operation is mounted: none is answered like a path that does not exist', async (t) => {
  for (const route of documentedRoutes) {
    const answer = await send(app.url, samplePath(route), { method: route.method.toUpperCase() })
    t.false(answer.text.includes('there is nothing here'), `${route.method} ${route.path}`)
    t.not(answer.status, 405, `${route.method} ${route.path}`)
  }
})

test('every mounted route is documented, itself or by the one it names', (t) => {
  const ids = new Set(Object.values(document.paths).flatMap((it) => Object.values(it).map((op) => op.operationId)))
  for (const route of documentedRoutes) t.true(ids.has(route.documentedBy ?? route.operationId), route.operationId)
  const inDocument = [...ids].filter((id) => !documentedRoutes.some((route) => route.operationId === id))
  t.deepEqual(inDocument, [])
})

test('every operation of an access token names its scope', (t) => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const withToken = operations.flatMap(({ operationId, security }) =>
    security.flatMap((schemes) => ('accessToken' in schemes ? [{ operationId, scopes: schemes.accessToken }] : [])),
  )
  t.true(withToken.length > 90)
  for (const { operationId, scopes } of withToken) {
    const [scope, ...others] = scopes as string[]
    t.true(OFFERED_SCOPES.includes(String(scope)), `${operationId}: ${scope}`)
    t.deepEqual(others, [])
  }
})

test('operations that take no key are few and known', (t) => {
  const open = documentedRoutes
    .filter((route) => route.security.length === 0 && !route.path.startsWith('/v1/') && !route.path.startsWith('/.'))
    .map((route) => route.operationId)
  t.deepEqual(open.toSorted(), [
    'getCalendar',
    'getCheckBadge',
    'getProjectBadge',
    'getProjectMetrics',
    'getStatus',
    'getStatusV1',
    'getStatusV2',
    'getTagBadge',
    'reportBounce',
    'reportNotification',
  ])
})

function samplePath(route: Route): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURI(route.params[name]?.example ?? ''))
}
