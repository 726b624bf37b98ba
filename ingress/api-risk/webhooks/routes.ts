import type { Route } from '../../route.ts'
import { sandboxInboxRoute } from '../sandbox.ts'
import { deliveryRoutes } from './deliveries.ts'
import { endpointActionRoutes } from './endpoint-actions.ts'
import { endpointRoutes } from './endpoints.ts'
import { eventRoutes } from './events.ts'

export const webhookRoutes: readonly Route[] = [
  ...endpointRoutes,
  ...endpointActionRoutes,
  ...deliveryRoutes,
  ...eventRoutes,
  sandboxInboxRoute,
]
