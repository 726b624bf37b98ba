import { ForbiddenError, ValidationError } from '#shared/errors.ts'
import { exportProject } from '#shared/monitoring/operations/export-project.ts'
import { importProject } from '#shared/monitoring/operations/import-project.ts'
import { MAX_DOCUMENT_VALUES } from '#shared/monitoring/projects/config-document.ts'
import { parseInSlices } from '../../../middleware/form-text.ts'
import { jsonObjectTexts, sendPieces, textPieces } from '../../../text-pieces.ts'
import { personOf } from '../../shell/audit.ts'
import { type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { requireProject } from '../../shell/workspace.ts'
import { reportText } from './import-form.tsx'
import { showSettings } from './settings.ts'

/** Exports and imports checks and integrations as one document, as the API and the command line do. */
export function exportPages(pages: Pages): void {
  pages.get('/projects/:project/export', async (context) => {
    const { project, session } = await requireProject(context, 'manage')
    const { deps } = context
    const document = await exportProject(deps.db, personOf(context, session), { project }, deps)
    const pieces = [...(await textPieces(jsonObjectTexts(document, '  '))), Buffer.from('\n')]
    context.response.set('Content-Disposition', 'attachment; filename="project.json"')
    await sendPieces(context.response, 'application/json', pieces)
  })
  pages.post('/projects/:project/import', importDocument)
}

async function importDocument(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const { deps, form } = context
  const document = field(form, 'document')
  const refuse = (problem: string, status: number) =>
    showSettings(context, { problem, requested: { document, report: null } }, status)
  const parsed = await parseInSlices(context.request, Buffer.from(document), { maxValues: MAX_DOCUMENT_VALUES })
  if (!parsed.ok) return await refuse('That is not the JSON of an export.', 400)
  try {
    const apply = field(form, 'do') !== 'preview'
    const input = { project, document: parsed.body, apply }
    const actor = personOf(context, session)
    const report = await deps.importSlots.run(`${project.id}`, () => importProject(deps.db, actor, input, deps))
    // The preview changes nothing, so a reload is harmless and needs no redirect.
    if (!apply) return await showSettings(context, { requested: { document, report } })
    const path = `/projects/${project.uuid}/settings`
    setFlash(context, path, { notice: `Imported: ${reportText(report)}.` })
    redirect(context, `${path}#export`)
  } catch (error) {
    if (error instanceof ForbiddenError) return await refuse(error.message, 403)
    if (!(error instanceof ValidationError)) throw error
    return await refuse(`Nothing is imported: ${error.message}.`, 400)
  }
}
