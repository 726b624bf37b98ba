import type { Route } from '../../route.ts'
import { blindRoutes } from './blind.ts'
import { checkRoutes } from './checks.ts'
import { disputeRoutes } from './disputes.ts'
import { registrationRoutes } from './registrations.ts'

export const firstFinancingRoutes: readonly Route[] = [
  ...checkRoutes,
  ...registrationRoutes,
  ...disputeRoutes,
  ...blindRoutes,
]
