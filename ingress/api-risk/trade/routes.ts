import type { Route } from '../../route.ts'
import { tradeDocumentRoutes } from './documents.ts'
import { evidenceKeysRoute } from './evidence-keys.ts'
import { tradePackRoutes } from './packs.ts'
import { tradeVerificationRoutes } from './verifications.ts'

/** Trade provenance: documents by hash, verifications, signed packs, and the keys that sign them. */
export const tradeRoutes: readonly Route[] = [
  ...tradeDocumentRoutes,
  ...tradeVerificationRoutes,
  ...tradePackRoutes,
  evidenceKeysRoute,
]
