import type { Route } from '../../route.ts'
import { evidenceRoutes } from './evidence.ts'
import { importRoutes } from './imports/routes.ts'
import { lmsEventRoutes } from './lms-events.ts'
import { mappingRoutes } from './mappings.ts'

/** Co-lending: what loan systems report, what their files hold, and the evidence it became. */
export const colendingRoutes: readonly Route[] = [
  ...lmsEventRoutes,
  ...evidenceRoutes,
  ...mappingRoutes,
  ...importRoutes,
]
