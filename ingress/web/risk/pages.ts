import { verificationPages } from '../public-verification/page.tsx'
import { type Context, type Pages, redirect } from '../shell/context.ts'
import { isRiskArea, type RiskArea } from '../shell/navigation.ts'
import { requireOrganisation } from '../shell/workspace.ts'
import { agentPages } from './agents.ts'
import { buyerAnswerPages } from './buyer-answer.tsx'
import { clientPages } from './clients.tsx'
import { comparePages } from './compare.tsx'
import { CONSOLE, lastEnvironment, loadConsole } from './console.tsx'
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
  pages.get('/organisations/:organisation/risk', (context) => openLast(context, 'packs'))
  // The last word of the path is an environment, or an area whose environment is the one used last.
  pages.get(CONSOLE, async (context) => {
    const { env = '' } = context.params
    if (isRiskArea(env)) return openLast(context, env)
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

async function openLast(context: Context, area: RiskArea): Promise<void> {
  const { organisation } = await requireOrganisation(context, 'view')
  const env = await lastEnvironment(context, organisation.organisationId)
  redirect(context, `/organisations/${organisation.organisationUuid}/risk/${env}/${area}`)
}
