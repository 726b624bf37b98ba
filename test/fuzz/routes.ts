import type { IngressDeps } from '../../ingress/deps.ts'
import { documentedRoutes, openApiDocument } from '../../ingress/openapi.ts'
import { createWebRouter } from '../../ingress/web/shell/router.ts'
import { isObject } from './json-mutation.ts'

/** A method and path from which mutated requests are made. */
export type FuzzRoute = {
  method: string
  /** variable parts in braces */
  path: string
  kind: 'ping' | 'api' | 'page'
  /** names of its query parameters */
  query: readonly string[]
  headers: readonly string[]
  /** JSON Schema of its JSON body */
  body?: unknown
  /** needs a key */
  isSecured?: boolean
}

export const openApi = openApiDocument()

/** All routes of the HTTP listener: pings, the documented API, pages and undocumented routes. */
export function allRoutes(deps: IngressDeps): FuzzRoute[] {
  return [...pingRoutes, ...documentedRoutes.map(apiRoute), ...otherRoutes, ...pageRoutes(deps)]
}

const pingRoutes: readonly FuzzRoute[] = [
  '/ping/{uuid}',
  '/ping/{uuid}/start',
  '/ping/{uuid}/fail',
  '/ping/{uuid}/log',
  '/ping/{uuid}/{exitStatus}',
  '/ping/{pingKey}/{slug}',
  '/ping/{pingKey}/{slug}/fail',
  '/ping/{pingKey}/{slug}/{exitStatus}',
].flatMap((path) =>
  ['GET', 'POST', 'HEAD'].map((method) => ({
    method,
    path,
    kind: 'ping' as const,
    query: ['rid', 'create'],
    headers: ['User-Agent', 'X-Forwarded-For'],
  })),
)

const otherRoutes: readonly FuzzRoute[] = [
  '/livez',
  '/readyz',
  '/docs',
  '/docs/{operationId}',
  '/openapi.json',
  '/ping/',
  '/nothing',
].map((path) => ({ method: 'GET', path, kind: 'api', query: ['q'], headers: ['If-None-Match'] }))

function apiRoute(route: (typeof documentedRoutes)[number]): FuzzRoute {
  return {
    method: route.method.toUpperCase(),
    path: route.path,
    kind: 'api',
    query: Object.keys(route.query?.shape ?? {}),
    headers: Object.keys(route.headers?.shape ?? {}),
    body: bodySchema(route.path, route.method),
    isSecured: route.security.length > 0,
  }
}

function bodySchema(path: string, method: string): unknown {
  return ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'].reduce<unknown>(
    (at, name) => (isObject(at) ? at[name] : undefined),
    openApi,
  )
}

/** Returns the routes of pages from the router, because no document lists them. */
function pageRoutes(deps: IngressDeps): FuzzRoute[] {
  return layersOf(createWebRouter(deps)).map(({ method, path }) => ({
    method,
    path: path.replace(/:(\w+)/g, '{$1}'),
    kind: 'page',
    query: ['page', 'tag', 'search', 'next', 'state', 'code'],
    headers: ['Accept', 'Sec-Fetch-Site', 'Last-Event-ID'],
  }))
}

function layersOf(router: unknown): { method: string; path: string }[] {
  const stack = hasStack(router) ? router.stack : []
  return stack.flatMap((layer) => {
    if (!isObject(layer)) return []
    const { route, handle } = layer
    if (!isObject(route) || typeof route.path !== 'string' || !isObject(route.methods)) return layersOf(handle)
    const path = route.path
    return Object.keys(route.methods).map((method) => ({ method: method.toUpperCase(), path }))
  })
}

/** Express's routers are functions with a list of layers. */
function hasStack(router: unknown): router is { stack: readonly unknown[] } {
  return typeof router === 'function' && 'stack' in router && Array.isArray(router.stack)
}
