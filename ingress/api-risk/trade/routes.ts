import type { Route } from '../../route.ts'
import { tradeDocumentRoutes } from './documents.ts'
import { evidenceKeysRoute } from './evidence-keys.ts'
import { tradePackRoutes } from './packs.ts'
import { tradeVerificationRoutes } from './verifications.ts'

export const tradeRoutes: readonly Route[] = [
  ...tradeDocumentRoutes,
  ...tradeVerificationRoutes,
  ...tradePackRoutes,
  evidenceKeysRoute,
]
