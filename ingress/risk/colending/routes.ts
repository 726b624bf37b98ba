import type { Route } from '../../route.ts'
import { evidenceRoutes } from './evidence.ts'
import { lmsEventRoutes } from './lms-events.ts'

/** Co-lending: what loan systems report, and the evidence it became. */
export const colendingRoutes: readonly Route[] = [...lmsEventRoutes, ...evidenceRoutes]
