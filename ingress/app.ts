import { readFileSync } from 'node:fs'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { NotFoundError } from '#shared/errors.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { monitoringDialect } from './api-monitoring/operation.ts'
import { createSlashRedirects, monitoringRoutes, publicRoutes } from './api-monitoring/routes.ts'
import { addBaseToHeaders } from './base-path.ts'
import type { IngressDeps } from './deps.ts'
import { failMonitoring, failProblem, refuseMethodWithProblem } from './errors.ts'
import { createHealthRouter } from './health.ts'
import { countBody } from './middleware/body.ts'
import { clientAddress, requestId } from './middleware/request-safety.ts'
import { openApiFile } from './openapi.ts'
import { platformRoutes } from './platform-routes.ts'
import { type Dialect, mountRoutes } from './route.ts'
import { SAFETY_HEADERS } from './safety-headers.ts'
import { createDocsRouter } from './web/docs/router.ts'
import { createWebRouter } from './web/shell/router.ts'

const publicDialect: Dialect = { refuseMethod: refuseMethodWithProblem, fail: failMonitoring }
const problemDialect: Dialect = { answersHead: true, refuseMethod: refuseMethodWithProblem, fail: failProblem }

/** Serves all HTTP except `/ping/`, which does not use Express. */
export function createApp(deps: IngressDeps): Express {
  const app = express()
  app.disable('etag')
  app.disable('x-powered-by')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', false)
  addBaseToHeaders(app, deps.config.basePath)

  app.use(requestId)
  app.use((request, response, next) => {
    response.set(SAFETY_HEADERS)
    if (deps.config.publicUrl.startsWith('https:')) response.set('Strict-Transport-Security', 'max-age=31536000')
    countBody(request, response, clientAddress(request, deps))
    next()
  })
  app.use(mountRoutes(monitoringRoutes, monitoringDialect, deps))
  app.use(createSlashRedirects([...monitoringRoutes, ...publicRoutes]))
  app.use(mountRoutes(publicRoutes, publicDialect, deps))
  app.use(mountRoutes(platformRoutes, problemDialect, deps))
  app.use(createDocsRouter(deps, openApiText(deps.config)))
  app.use(createHealthRouter(deps))
  app.use(createWebRouter(deps))
  app.use((request, response) => failUnrouted(nothingHere(), request, response, deps))
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) => {
    failUnrouted(isMalformedUrl(error) ? nothingHere() : error, request, response, deps)
  })
  return app
}

function nothingHere(): NotFoundError {
  return new NotFoundError('there is nothing here')
}

/** Below badge addresses an unknown path has an empty body, as an unknown badge has. */
function failUnrouted(error: unknown, request: Request, response: Response, deps: IngressDeps): void {
  const fail = /^\/(?:badge|b)\//.test(request.originalUrl) ? failMonitoring : failProblem
  fail(error, request, response, deps)
}

function isMalformedUrl(error: unknown): boolean {
  return error instanceof URIError
}

/** Generating it from the routes would add half a second to each start. The file is indented for readers. */
function openApiText({ basePath }: Config): string {
  return readFileSync(openApiFile, 'utf8')
    .replace(/\n */g, '')
    .replace('"servers": [{"url": "/"}]', `"servers": [{"url": "${basePath || '/'}"}]`)
}
