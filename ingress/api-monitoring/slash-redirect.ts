import { Router } from 'express'
import type { Route } from '../route.ts'
import { monitoringDialect } from './dialect.ts'

/** Redirects a collection path without its slash to the path with it, for any method (docs/spec/monitoring.md#api-routes). */
export function createSlashRedirects(routes: readonly Route[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const [path, operations] of Map.groupBy(routes, (route) => route.path)) {
    if (!path.startsWith('/api/') || !path.endsWith('/')) continue
    const methods = operations.map((route) => route.method.toUpperCase())
    const params = operations[0]?.params ?? {}
    const source = path.slice(0, -1).replace(/\{(\w+)\}/g, (_, name: string) => params[name]?.pattern ?? '')
    router.all(new RegExp(`^${source}$`), (request, response) => {
      monitoringDialect.prepare?.(request, response, methods)
      const [plain = '', query] = request.url.split(/\?(.*)/s)
      response.setHeader('Location', `${plain}/${query === undefined ? '' : `?${query}`}`)
      response.status(301).end()
    })
  }
  return router
}
