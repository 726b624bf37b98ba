import { DomainError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { fromCronitor } from '#shared/monitoring/move-in/cronitor.ts'
import { fromHealthchecks } from '#shared/monitoring/move-in/healthchecks.ts'
import { planDigest } from '#shared/monitoring/move-in/report.ts'
import { listArrived } from '#shared/monitoring/move-in/store.ts'
import { fromUptimeKuma, readKumaBackup } from '#shared/monitoring/move-in/uptime-kuma.ts'
import { addImportedKeys } from '#shared/monitoring/operations/import-keys.ts'
import { needsSettings } from '#shared/monitoring/operations/integration-config.ts'
import { moveIn } from '#shared/monitoring/operations/move-in.ts'
import { discardPlan, requirePlan, savePlan } from '#shared/monitoring/operations/move-in-plans.ts'
import type { MoveInOptions } from '#shared/monitoring/operations/plan-move-in.ts'
import { importClient, readHealthchecks } from '#shared/monitoring/operations/read-healthchecks.ts'
import { startWatching } from '#shared/monitoring/operations/start-watching.ts'
import { isUuid } from '#shared/uuid.ts'
import { personOf } from '../../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { requireProject } from '../../shell/workspace.ts'
import { MoveInPage } from './move-in-page.tsx'
import { PlanPage } from './plan-page.tsx'

/** Import of checks from another monitor: source, plan, confirmation, and what has arrived since. */
export function moveInPages(pages: Pages): void {
  const base = '/projects/:project/move-in'
  pages.get(base, (context) => showStart(context, {}))
  pages.post(`${base}/healthchecks`, readSource)
  pages.post(`${base}/file`, readFile)
  pages.post(`${base}/start`, start)
  pages.get(`${base}/:plan`, (context) => showPlan(context, null))
  pages.post(`${base}/:plan`, confirm)
}

interface StartState {
  problem?: string
  fileProblem?: string
  url?: string
}

async function showStart(context: Context, { problem, fileProblem, url }: StartState, status = 200): Promise<void> {
  const workspace = await requireProject(context, 'manage')
  const { project } = workspace
  const { db } = context.deps
  const [arrived, integrations] = [await listArrived(db, project.id), await listIntegrations(db, project.id)]
  const view = {
    base: `/projects/${project.uuid}`,
    arrived,
    publicUrl: context.deps.config.publicUrl,
    unconfigured: integrations.filter((integration) => needsSettings(integration, context.deps.secrets)),
    url: url ?? '',
    problem: problem ?? context.flash.problem,
    fileProblem,
  }
  sendPage(
    context,
    { title: `Move in · ${project.name}`, workspace, project, area: 'settings' },
    <MoveInPage context={context} view={view} />,
    status,
  )
}

async function readSource(context: FormContext): Promise<void> {
  const { project } = await requireProject(context, 'manage')
  const { deps, form } = context
  const url = field(form, 'url')
  try {
    await using http = importClient(deps.config)
    const source = { url, apiKey: field(form, 'api_key') }
    const answers = await deps.importSlots.run(`${project.id}`, () => readHealthchecks(http, source))
    const id = await savePlan(deps.db, { project, imported: fromHealthchecks(answers) }, deps)
    redirect(context, `/projects/${project.uuid}/move-in/${id}`)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    await showStart(context, { problem: refusalText(error), url }, 400)
  }
}

async function readFile(context: FormContext): Promise<void> {
  const { project } = await requireProject(context, 'manage')
  const { deps, form } = context
  try {
    const text = form.get('document') ?? ''
    const isKuma = field(form, 'source') === 'uptime-kuma'
    const imported = isKuma ? fromUptimeKuma(readKumaBackup(Buffer.from(text))) : fromCronitor(text)
    const id = await savePlan(deps.db, { project, imported }, deps)
    redirect(context, `/projects/${project.uuid}/move-in/${id}`)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    await showStart(context, { fileProblem: refusalText(error) }, 400)
  }
}

async function showPlan(context: Context, problem: string | null, status = 200): Promise<void> {
  const workspace = await requireProject(context, 'manage')
  const { project, session } = workspace
  const { deps } = context
  const id = planOf(context)
  const imported = await requirePlan(deps.db, { project, id }, deps)
  const overwrite = context.query.get('overwrite') === '1'
  const options = { apply: false, overwrite }
  const report = await moveIn(deps.db, personOf(context, session), { project, imported, options }, deps)
  const view = { base: `/projects/${project.uuid}`, id, report, digest: planDigest(report), overwrite, problem }
  sendPage(
    context,
    { title: `Plan of the import · ${project.name}`, workspace, project, area: 'settings' },
    <PlanPage context={context} view={view} />,
    status,
  )
}

async function confirm(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const { deps, form } = context
  const id = planOf(context)
  const imported = await requirePlan(deps.db, { project, id }, deps)
  const actor = personOf(context, session)
  const keys = { pingKey: field(form, 'ping_key') || undefined, apiKey: field(form, 'kept_api_key') || undefined }
  const options: MoveInOptions = {
    apply: true,
    overwrite: context.query.get('overwrite') === '1',
    skipConflicts: field(form, 'skip_conflicts') === 'on',
    confirmed: field(form, 'digest'),
    also: (tx) => addImportedKeys(tx, actor, { project, keys }, deps),
  }
  try {
    const input = { project, imported, options }
    const report = await deps.importSlots.run(`${project.id}`, () => moveIn(deps.db, actor, input, deps))
    if (!report.applied) {
      const isSame = planDigest(report) === options.confirmed
      const problem = isSame
        ? 'Nothing is imported: there are conflicts. Choose to leave these checks unchanged.'
        : 'Nothing is imported: the project has changed. This is the new plan.'
      return await showPlan(context, problem, 409)
    }
    await discardPlan(deps.db, { project, id })
    deps.announce({ kind: 'project', projectId: project.id })
    const path = `/projects/${project.uuid}/move-in`
    const notice = `Imported: ${report.create.length} checks created, ${report.update.length} changed.`
    setFlash(context, path, { notice })
    redirect(context, path)
  } catch (error) {
    if (!(error instanceof DomainError) || error instanceof NotFoundError) throw error
    await showPlan(context, refusalText(error), error instanceof ValidationError ? 400 : 403)
  }
}

async function start(context: FormContext): Promise<void> {
  const { project, session } = await requireProject(context, 'manage')
  const { deps } = context
  const count = await startWatching(deps.db, personOf(context, session), project, deps)
  const path = `/projects/${project.uuid}/move-in`
  const notice = `Watching ${count} ${count === 1 ? 'check' : 'checks'}. Each goes down if its next ping does not arrive.`
  setFlash(context, path, { notice })
  redirect(context, path)
}

function refusalText({ message }: DomainError): string {
  return `Nothing is imported: ${message}${/[.?]$/.test(message) ? '' : '.'}`
}

function planOf(context: Context): string {
  const id = context.params.plan ?? ''
  if (!isUuid(id)) throw new NotFoundError('There is no such plan.')
  return id
}
