import { verificationPages } from '../public-verification/page.tsx'
import { type Pages, redirect } from '../shell/context.ts'
import { agentPages } from './agents.ts'
import { buyerAnswerPages } from './buyer-answer.tsx'
import { clientPages } from './clients.tsx'
import { comparePages } from './compare.tsx'
import { CONSOLE, loadConsole } from './console.tsx'
import { deliveryPages } from './delivery.tsx'
import { acceptancePages } from './evidence/acceptance.tsx'
import { businessPages } from './evidence/businesses.tsx'
import { financingPages } from './evidence/financing.tsx'
import { poolPages } from './evidence/pools.tsx'
import { tradePages } from './evidence/trade.tsx'
import { identityPages } from './identity/pages.ts'
import { importPages } from './imports.tsx'
import { newPackPages } from './new-pack.tsx'
import { packListPages } from './pack-list.tsx'
import { packPages } from './pack-page.tsx'
import { presentationPages } from './presentation-page.tsx'
import { sharedPackPages } from './shared-pack.tsx'
import { uploadImportPages } from './upload-import.tsx'
import { usagePages } from './usage.tsx'
import { webhookActionPages } from './webhook-actions.tsx'
import { webhookPages } from './webhooks.tsx'

export function riskPages(pages: Pages): void {
  pages.get('/organisations/:organisation/risk', (context) => {
    redirect(context, `/organisations/${encodeURIComponent(context.params.organisation ?? '')}/risk/sandbox/packs`)
  })
  pages.get(CONSOLE, async (context) => {
    const { base } = await loadConsole(context, 'view')
    redirect(context, `${base}/packs`)
  })
  // Before the pages whose parameter would take `new` for a pack.
  for (const register of [
    newPackPages,
    packListPages,
    packPages,
    comparePages,
    sharedPackPages,
    buyerAnswerPages,
    presentationPages,
    identityPages,
    businessPages,
    financingPages,
    acceptancePages,
    tradePages,
    // Before the pages whose parameter would take `new` for an import.
    uploadImportPages,
    importPages,
    poolPages,
    clientPages,
    agentPages,
    usagePages,
    webhookActionPages,
    webhookPages,
    deliveryPages,
    verificationPages,
  ]) {
    register(pages)
  }
}
