import type { Route } from '../route.ts'
import { acceptanceRoutes } from './acceptance/routes.ts'
import { readAnchorRoute, verifyAnchorRoute } from './anchors/anchors.ts'
import { consistencyRoute, inclusionRoute } from './anchors/proofs.ts'
import { checkpointRoute, logKeyRoute, policyRoute, tileRoute } from './anchors/transparency.ts'
import { colendingRoutes } from './colending/routes.ts'
import { firstFinancingRoutes } from './first-financing/routes.ts'
import { identityRoutes } from './identity/routes.ts'
import { entityRoutes } from './kyb/entities.ts'
import { entityKeyRoutes } from './kyb/keys.ts'
import { verificationRoutes } from './kyb/verifications.ts'
import { packPdfRoute } from './pack-pdf.ts'
import { listPacksRoute, readEvidenceRoute, readOrderRoute, readPackRoute } from './packs/read-packs.ts'
import { requestPackRoute } from './packs/request-pack.ts'
import { sandboxInvoiceRoute } from './sandbox.ts'
import { securitisationRoutes } from './securitisation/receivables.ts'
import { tradeRoutes } from './trade/routes.ts'
import { usageRoute } from './usage.ts'
import { webhookRoutes } from './webhooks/routes.ts'

export const riskRoutes: readonly Route[] = [
  requestPackRoute,
  sandboxInvoiceRoute,
  listPacksRoute,
  readPackRoute,
  readEvidenceRoute,
  readOrderRoute,
  packPdfRoute,
  usageRoute,
  // Before the route whose parameter would take `verify` for a txId.
  verifyAnchorRoute,
  readAnchorRoute,
  checkpointRoute,
  tileRoute,
  logKeyRoute,
  policyRoute,
  inclusionRoute,
  consistencyRoute,
  ...webhookRoutes,
  ...colendingRoutes,
  ...securitisationRoutes,
  ...firstFinancingRoutes,
  ...acceptanceRoutes,
  ...verificationRoutes,
  ...entityRoutes,
  ...entityKeyRoutes,
  ...tradeRoutes,
  ...identityRoutes,
]
