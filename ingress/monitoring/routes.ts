import type { Route } from '../route.ts'

/** Every operation of the monitoring API, versions 1 to 3. */
export const monitoringRoutes: readonly Route[] = []
