import { h } from 'preact'
import { integrationFingerprint } from '#shared/monitoring/pages/integration-store.ts'
import type { Context, Pages } from '../../shell/context.ts'
import { sendPage } from '../../shell/layout.tsx'
import { liveAddress } from '../../shell/live.ts'
import { requireProject } from '../../shell/workspace.ts'
import { IntegrationPage } from './integration-page.tsx'
import { loadIntegration, loadIntegrations } from './integrations-view.ts'
import { CataloguePage, IntegrationListPage } from './list-page.tsx'
import { requireIntegrationOf } from './load-integration.ts'

/** The list has no events. It polls, so that the result of a test appears. */
const POLL_SECONDS = 10

export function integrationPages(pages: Pages): void {
  pages.get('/projects/:project/integrations', showList)
  pages.get('/projects/:project/integrations/new', showCatalogue)
  pages.get('/integrations/:integration', showIntegration)
}

async function showList(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'view')
  const { project } = workspace
  const view = await loadIntegrations(context.deps, project)
  sendPage(
    context,
    { title: `Integrations · ${project.name}`, workspace, project, area: 'integrations', pollSeconds: POLL_SECONDS },
    h(IntegrationListPage, { context, view }),
  )
}

async function showCatalogue(context: Context): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project } = workspace
  sendPage(
    context,
    { title: 'Add integration', workspace, project, area: 'integrations' },
    h(CataloguePage, { base: `/projects/${project.uuid}/integrations`, config: context.deps.config }),
  )
}

async function showIntegration(context: Context): Promise<void> {
  const workspace = await requireIntegrationOf(context, 'view')
  const { integration, project } = workspace
  const { fingerprint } = await integrationFingerprint(context.deps.db, integration.id)
  const view = await loadIntegration(context.deps, workspace)
  sendPage(
    context,
    {
      title: `${view.name} · ${project.name}`,
      workspace,
      project,
      area: 'integrations',
      live: liveAddress(`${view.path}/events`, fingerprint),
    },
    h(IntegrationPage, { context, view }),
  )
}
