import { h } from 'preact'
import { notifyUnknown } from '#shared/monitoring/operations/check-state.ts'
import { deleteProject, renameProject } from '#shared/monitoring/operations/projects.ts'
import { personOf } from '../../shell/audit.ts'
import { type Context, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { loadSettings, SettingsPage, type SettingsState } from './settings-page.tsx'

export function projectSettingsPages(pages: Pages): void {
  pages.get('/projects/:project/settings', (context) => {
    const { problem } = context.flash
    return showSettings(context, { ...(problem !== undefined && { problem }) })
  })
  pages.post('/projects/:project/settings/name', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    const { deps, form } = context
    const name = field(form, 'name').slice(0, 100) || project.name
    await renameProject(deps.db, personOf(context, session), { project, name }, deps)
    redirect(context, `/projects/${project.uuid}/settings?done=project-saved`)
  })
  pages.post('/projects/:project/settings/unknown', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    const isWanted = field(context.form, 'notify') === 'on'
    await notifyUnknown(context.deps.db, personOf(context, session), { project, isWanted })
    redirect(context, `/projects/${project.uuid}/settings?done=project-saved`)
  })
  pages.post('/projects/:project/settings/delete', async (context) => {
    const { project, session } = await requireProject(context, 'own')
    if (field(context.form, 'name') !== project.name) {
      const path = `/projects/${project.uuid}/settings`
      setFlash(context, path, { problem: 'Nothing is deleted: that was not the name of the project.' })
      return redirect(context, path)
    }
    await deleteProject(context.deps.db, personOf(context, session), project, context.deps)
    redirect(context, '/projects?done=project-deleted')
  })
}

export async function showSettings(context: Context, state: SettingsState, status = 200): Promise<void> {
  const workspace = await requireProject(context, 'manage')
  const { project } = workspace
  const view = await loadSettings(context.deps.db, project)
  sendPage(
    context,
    { title: `Settings · ${project.name}`, workspace, project, area: 'settings' },
    h(SettingsPage, { context, view, state }),
    status,
  )
}
