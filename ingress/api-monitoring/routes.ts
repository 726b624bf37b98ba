import { Router } from 'express'
import type { Route } from '../route.ts'
import { badgeImageRoutes } from './badge-images.ts'
import { badgeRoutes } from './badges.ts'
import { calendarRoutes } from './calendar.ts'
import { feedRoutes } from './calendar-feeds.ts'
import { callbackRoutes } from './callbacks.ts'
import { checkReadRoutes } from './check-reads.ts'
import { checkWriteRoutes } from './check-writes.ts'
import { documentRoutes } from './config-document-routes.ts'
import { flipRoutes } from './flips.ts'
import { gapRoutes } from './gaps.ts'
import { importFromRoutes } from './import-from.ts'
import { incidentRoutes } from './incidents.ts'
import { integrationRoutes } from './integrations.ts'
import { metricsRoutes } from './metrics.ts'
import { onCallRoutes } from './on-call.ts'
import { type ApiVersion, monitoringDialect } from './operation.ts'
import { overrideRoutes } from './overrides.ts'
import { pingRoutes } from './pings.ts'
import { policyRoutes } from './policies.ts'
import { provisioningRoutes } from './provisioning.ts'
import { runRoutes } from './runs.ts'
import { scheduleRoutes } from './schedules.ts'
import { simulationRoutes } from './simulations.ts'
import { sourceRoutes } from './sources.ts'
import { integrationListRoutes, statusRoute } from './status.ts'
import { swapRoutes } from './swaps.ts'
import { uptimeRoutes } from './uptime.ts'
import { uptimeProofRoutes } from './uptime-proof.ts'
import { windowRoutes } from './windows.ts'

/** Versions 1 and 2 of the API are deprecated since release 1.0. */
const SINCE_RELEASE_1_0 = '2026-11-28'

/** Every operation that may be called from pages of any origin, versions 3 to 1. */
export const monitoringRoutes: readonly Route[] = [
  ...version(3),
  ...integrationRoutes,
  ...documentRoutes,
  ...importFromRoutes,
  ...policyRoutes,
  ...windowRoutes,
  ...onCallRoutes,
  ...scheduleRoutes,
  ...overrideRoutes,
  ...feedRoutes,
  ...swapRoutes,
  ...incidentRoutes,
  ...runRoutes,
  ...sourceRoutes,
  ...provisioningRoutes,
  ...gapRoutes,
  ...uptimeRoutes,
  ...uptimeProofRoutes,
  ...simulationRoutes,
  ...badgeImageRoutes,
  ...version(2),
  ...version(1),
]

/** Routes without CORS: the status for monitors, the metrics for Prometheus, and callbacks of providers. */
export const publicRoutes: readonly Route[] = [
  ...metricsRoutes,
  ...calendarRoutes,
  ...callbackRoutes,
  ...([3, 2, 1] as const).flatMap((version) => named(version, [statusRoute(version)])),
]

function version(version: ApiVersion): Route[] {
  return named(version, [
    ...checkReadRoutes(version),
    ...checkWriteRoutes(version),
    ...pingRoutes(version),
    ...flipRoutes(version),
    ...integrationListRoutes(version),
    ...badgeRoutes(version),
  ])
}

/** The older versions are the same operations under other names; their differences are few (docs/spec/monitoring.md#api-versions). */
function named(version: ApiVersion, routes: readonly Route[]): Route[] {
  if (version === 3) return [...routes]
  const suffix = `V${version}`
  return routes.map((route) => ({
    ...route,
    operationId: route.operationId + suffix,
    ...(route.documentedBy !== undefined && { documentedBy: route.documentedBy + suffix }),
    tags: [`Version ${version}`],
    deprecated: SINCE_RELEASE_1_0,
  }))
}

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
