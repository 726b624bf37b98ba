import { h } from 'preact'
import { deleteProject, renameProject } from '#shared/monitoring/projects/changes-store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { audit } from '../frame/audit.ts'
import { type Context, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openProject } from '../frame/workspace.ts'
import { SettingsPage } from './settings-page.tsx'
import { loadSettings, type SettingsState } from './settings-view.ts'

export function projectSettingsPages(pages: Pages): void {
  pages.get('/projects/:project/settings', (context) => showSettings(context, {}))
  pages.post('/projects/:project/settings/name', async (context) => {
    const { project } = await openProject(context, 'manage')
    const name = field(context.form, 'name').slice(0, 100) || project.name
    await renameProject(context.deps.db, project.id, name)
    context.deps.announce({ kind: 'project', projectId: project.id })
    await audit(context, project.organisationId, 'project.renamed', `${project.name} to ${name}`)
    redirect(context, `/projects/${project.uuid}/settings?done=project-saved`)
  })
  pages.post('/projects/:project/settings/delete', async (context) => {
    const { project } = await openProject(context, 'own')
    if (field(context.form, 'name') !== project.name) {
      return await showSettings(context, { problem: 'Type the name of the project to delete it.' }, 400)
    }
    await transaction(context.deps.db, async (tx) => {
      await deleteProject(tx, project.id)
      await audit(context, project.organisationId, 'project.deleted', project.name, tx)
    })
    context.deps.announce({ kind: 'project', projectId: project.id })
    redirect(context, '/projects?done=project-deleted')
  })
}

export async function showSettings(context: Context, state: SettingsState, status = 200): Promise<void> {
  const workspace = await openProject(context, 'manage')
  const { project } = workspace
  const view = await loadSettings(context.deps, project, state)
  sendPage(
    context,
    { title: `Settings · ${project.name}`, workspace, project, area: 'settings' },
    h(SettingsPage, { context, view, state }),
    status,
  )
}
