import type { Request, Response } from 'express'
import type { IngressDeps } from './deps.ts'

/** Labels metrics with the pattern of a path, because a path contains secrets. */
export function observe(request: Request, response: Response, route: string, deps: IngressDeps): void {
  response.locals.route = route
  const startedAt = performance.now()
  const leave = deps.eventLoop.enter(`${request.method} ${route}`)
  response.once('close', leave)
  response.once('finish', () => {
    deps.metrics.httpRequests
      .labels(route, request.method, String(response.statusCode))
      .observe((performance.now() - startedAt) / 1000)
  })
}
