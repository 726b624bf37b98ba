import { ForbiddenError, ValidationError } from '#shared/errors.ts'
import { parseJsonBody } from '#shared/monitoring/checks/json-body.ts'
import { exportProject, importProject } from '../../monitoring/config-document.ts'
import { audit } from '../frame/audit.ts'
import { type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { openProject } from '../frame/workspace.ts'
import { showSettings } from './settings.ts'

/** A project's checks and integrations as one document, out and in: the same as by the API and the command line. */
export function exportPages(pages: Pages): void {
  pages.get('/projects/:project/export', async (context) => {
    const { project } = await openProject(context, 'manage')
    const document = await exportProject(context.deps, project)
    await audit(context, project.organisationId, 'project.exported', project.name)
    context.response
      .set({ 'Content-Type': 'application/json', 'Content-Disposition': 'attachment; filename="project.json"' })
      .end(`${JSON.stringify(document, null, 2)}\n`)
  })
  pages.post('/projects/:project/import', importDocument)
}

async function importDocument(context: FormContext): Promise<void> {
  const { project } = await openProject(context, 'manage')
  const { deps, form } = context
  const parsed = parseJsonBody(Buffer.from(field(form, 'document')))
  if (!parsed.ok) return await showSettings(context, { problem: 'That is not the JSON of an export.' }, 400)
  try {
    const { report, touched } = await importProject(deps, project, parsed.body, true)
    for (const uuid of touched) deps.announce({ kind: 'check', uuid, projectId: project.id })
    const counts = `${report.checks.create.length} checks created, ${report.checks.update.length} changed`
    await audit(context, project.organisationId, 'project.imported', `${project.name}: ${counts}`)
  } catch (error) {
    if (error instanceof ForbiddenError) {
      return await showSettings(context, { problem: 'The project would have more checks than it may.' }, 403)
    }
    if (!(error instanceof ValidationError)) throw error
    return await showSettings(context, { problem: `Nothing is imported: ${error.message}.` }, 400)
  }
  redirect(context, `/projects/${project.uuid}/checks?done=imported`)
}
