import { type Request, Router } from 'express'
import type { IngressDeps } from '../../deps.ts'
import { accountPages } from '../accounts/account.tsx'
import { createEndReportsRouter } from '../accounts/end-reports.tsx'
import { invitationPages } from '../accounts/invitation.tsx'
import { newFactorPages } from '../accounts/new-factor.tsx'
import { oidcPages } from '../accounts/oidc.ts'
import { resetPages } from '../accounts/reset-password.tsx'
import { secondFactorPages } from '../accounts/second-factor.tsx'
import { secondStepPages } from '../accounts/second-step.tsx'
import { setUpPages } from '../accounts/set-up.tsx'
import { signInPages } from '../accounts/sign-in.tsx'
import { youPages } from '../accounts/you.tsx'
import { checkActions } from '../checks/actions.ts'
import { checkListPages } from '../checks/list.tsx'
import { checkPages } from '../checks/page.tsx'
import { pingPages } from '../checks/ping.tsx'
import { checkRulesPages } from '../checks/rules.tsx'
import { uptimeProofPages } from '../checks/uptime-proof.tsx'
import { checkWritePages } from '../checks/write.tsx'
import { designPages } from '../design/page.tsx'
import { gapPages } from '../gaps/pages.tsx'
import { incidentPages } from '../incidents/pages.tsx'
import { createIncidentLinkRouter } from '../incidents/signed-link.tsx'
import { createConfirmRouter } from '../integrations/confirm-address.tsx'
import { integrationPages } from '../integrations/pages.ts'
import { createUnsubscribeRouter } from '../integrations/unsubscribe.tsx'
import { integrationWritePages } from '../integrations/write.tsx'
import { auditPages } from '../organisations/audit.tsx'
import { memberPages } from '../organisations/members.ts'
import { policyPages } from '../policies/pages.tsx'
import { simulatorPages } from '../policies/simulator.tsx'
import { badgePages } from '../projects/badges.tsx'
import { exportPages } from '../projects/export.tsx'
import { keyPages } from '../projects/keys.ts'
import { projectListPages } from '../projects/list.tsx'
import { projectSettingsPages } from '../projects/settings.ts'
import { statementPages } from '../projects/statements.tsx'
import { statusLogoPages } from '../projects/status-logo.tsx'
import { statusNotePages } from '../projects/status-notes.tsx'
import { statusPagePages } from '../projects/status-page.tsx'
import { riskAssets } from '../risk/assets.ts'
import { riskPages } from '../risk/pages.ts'
import { windowPages } from '../windows/pages.tsx'
import { createAssetRouter } from './assets.ts'
import { livePages } from './live.ts'
import { createPages } from './serve.ts'

/** The pages for people; not part of the API document. */
export function createWebRouter(deps: IngressDeps): Router {
  const { pages, router, sendMissing } = createPages(deps)
  for (const register of [
    signInPages,
    secondStepPages,
    secondFactorPages,
    newFactorPages,
    setUpPages,
    resetPages,
    invitationPages,
    oidcPages,
    accountPages,
    youPages,
    projectListPages,
    projectSettingsPages,
    statementPages,
    keyPages,
    badgePages,
    exportPages,
    statusPagePages,
    statusLogoPages,
    statusNotePages,
    checkListPages,
    checkWritePages,
    checkActions,
    livePages,
    pingPages,
    checkPages,
    uptimeProofPages,
    integrationWritePages,
    integrationPages,
    incidentPages,
    gapPages,
    policyPages,
    simulatorPages,
    checkRulesPages,
    windowPages,
    memberPages,
    auditPages,
    riskPages,
  ]) {
    register(pages)
  }
  if (deps.config.nodeEnv !== 'production') designPages(pages)
  const all = Router({ caseSensitive: true, strict: true })
  all.use(createAssetRouter(Object.values(riskAssets)))
  all.use(createUnsubscribeRouter(deps))
  all.use(createEndReportsRouter(deps))
  all.use(createIncidentLinkRouter(deps))
  all.use(createConfirmRouter(deps))
  all.use(router)
  all.use(async (request, response, next) => {
    if (wantsPage(request)) await sendMissing(request, response)
    else next()
  })
  return all
}

/** A person who followed a link that leads nowhere, not a program that mistook an address. */
function wantsPage({ method, headers }: Request): boolean {
  return method === 'GET' && (headers.accept ?? '').includes('text/html')
}
