import { Router } from 'express'
import type { IngressDeps } from '../../deps.ts'
import { accountPages } from '../account/account.tsx'
import { invitationPages } from '../account/invitation.tsx'
import { newFactorPages } from '../account/new-factor.tsx'
import { notificationPages } from '../account/notifications/pages.tsx'
import { oidcPages } from '../account/oidc.ts'
import { createEndReportsRouter } from '../account/reports.tsx'
import { resetPages } from '../account/reset-password.tsx'
import { secondFactorPages } from '../account/second-factor.tsx'
import { secondStepPages } from '../account/second-step.tsx'
import { setUpPages } from '../account/set-up.tsx'
import { signInPages } from '../account/sign-in.tsx'
import { youPages } from '../account/you.tsx'
import { designPages } from '../design/page.tsx'
import { gapPages } from '../monitoring/availability/pages.tsx'
import { checkActions } from '../monitoring/checks/actions.ts'
import { checkListPages } from '../monitoring/checks/list.tsx'
import { checkPages } from '../monitoring/checks/page.tsx'
import { pingPages } from '../monitoring/checks/ping.tsx'
import { checkRulesPages } from '../monitoring/checks/rules.tsx'
import { uptimeProofPages } from '../monitoring/checks/uptime-proof.tsx'
import { checkWritePages } from '../monitoring/checks/write.tsx'
import { incidentPages } from '../monitoring/incidents/pages.tsx'
import { createIncidentLinkRouter } from '../monitoring/incidents/signed-link.tsx'
import { integrationPages } from '../monitoring/integrations/pages.ts'
import { createConfirmRouter, createUnsubscribeRouter } from '../monitoring/integrations/recipient-page.tsx'
import { integrationWritePages } from '../monitoring/integrations/write.tsx'
import { windowPages } from '../monitoring/maintenance/pages.tsx'
import { moveInPages } from '../monitoring/move-in/pages.tsx'
import { onCallPages } from '../monitoring/on-call/pages.tsx'
import { policyPages } from '../monitoring/policies/pages.tsx'
import { simulatorPages } from '../monitoring/policies/simulator.tsx'
import { badgePages } from '../monitoring/projects/badges.tsx'
import { exportPages } from '../monitoring/projects/export.tsx'
import { keyPages } from '../monitoring/projects/keys.tsx'
import { projectListPages } from '../monitoring/projects/list.tsx'
import { projectSettingsPages } from '../monitoring/projects/settings.ts'
import { statementPages } from '../monitoring/projects/statements.tsx'
import { statusLogoPages } from '../monitoring/projects/status-logo.tsx'
import { statusNotePages } from '../monitoring/projects/status-notes.tsx'
import { statusPagePages } from '../monitoring/projects/status-page.tsx'
import { statusPageFormPages } from '../monitoring/projects/status-page-form.tsx'
import { auditPages } from '../organisations/audit.tsx'
import { memberPages } from '../organisations/members.ts'
import { riskAssets, verificationModules } from '../risk/assets.ts'
import { riskPages } from '../risk/pages.ts'
import { createAssetRouter } from './assets.ts'
import { livePages } from './live.ts'
import { wantsPage } from './send-html.ts'
import { createPages } from './serve.ts'

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
    notificationPages,
    youPages,
    projectListPages,
    projectSettingsPages,
    statementPages,
    keyPages,
    badgePages,
    exportPages,
    moveInPages,
    statusPagePages,
    statusPageFormPages,
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
    onCallPages,
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
  all.use(createAssetRouter([...Object.values(riskAssets), ...verificationModules]))
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
