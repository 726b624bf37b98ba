import { agentRoutes } from './api-risk/agents/routes.ts'
import { riskRoutes } from './api-risk/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { authorizeRoute, jwksRoute, metadataRoute } from './oauth/metadata.ts'
import { tokenRoute } from './oauth/token.ts'
import { walletRoutes } from './oid4vp/requests.ts'
import type { Route } from './route.ts'

export const platformRoutes: readonly Route[] = [
  tokenRoute,
  jwksRoute,
  metadataRoute,
  authorizeRoute,
  ...riskRoutes,
  ...walletRoutes,
  ...agentRoutes,
  ...mcpRoutes,
]
