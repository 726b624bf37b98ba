import { type Pages, redirect } from '../frame/context.ts'
import { verificationPages } from '../public-verification/page.tsx'
import { agentPages } from './agents.ts'
import { clientPages } from './clients.tsx'
import { comparePages } from './compare.tsx'
import { CONSOLE, openConsole } from './console.tsx'
import { deliveryPages } from './delivery.tsx'
import { newPackPages } from './new-pack.tsx'
import { packListPages } from './pack-list.tsx'
import { packPages } from './pack-page.tsx'
import { sharedPackPages } from './shared-pack.tsx'
import { usagePages } from './usage.tsx'
import { webhookPages } from './webhooks.tsx'

/** The risk console, shared packs and the public verification page. */
export function riskPages(pages: Pages): void {
  pages.get('/organisations/:organisation/risk', (context) => {
    redirect(context, `/organisations/${encodeURIComponent(context.params.organisation ?? '')}/risk/sandbox/packs`)
  })
  pages.get(CONSOLE, async (context) => {
    const { base } = await openConsole(context, 'view')
    redirect(context, `${base}/packs`)
  })
  // Before the pages whose parameter would take `new` for a pack.
  for (const register of [
    newPackPages,
    packListPages,
    packPages,
    comparePages,
    sharedPackPages,
    clientPages,
    agentPages,
    usagePages,
    webhookPages,
    deliveryPages,
    verificationPages,
  ]) {
    register(pages)
  }
}
