import { ValidationError } from '#shared/errors.ts'
import { findRules } from '#shared/monitoring/alerting/policy-store.ts'
import { listTags } from '#shared/monitoring/badges/store.ts'
import { DEFAULT_SETTINGS } from '#shared/monitoring/checks/settings.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { createCheck, updateCheck } from '#shared/monitoring/operations/checks.ts'
import { personOf } from '../../shell/audit.ts'
import { Crumb } from '../../shell/basics.tsx'
import { type Context, type FormContext, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { type CheckWorkspace, type ProjectWorkspace, requireCheckPage, requireProject } from '../../shell/workspace.ts'
import { unavailableReason } from '../integrations/catalogue.ts'
import { createAdded, problemOfAdded, readAddedIntegration } from './added-integration.tsx'
import { CheckForm } from './form.tsx'
import { bodyOf, type CheckFormState, stateOf, stateOfForm } from './form-state.ts'
import { previewPages } from './preview.tsx'

/** Converts forms to requests of the management API and calls the same operations. */
export function checkWritePages(pages: Pages): void {
  previewPages(pages)
  pages.get('/projects/:project/checks/new', async (context) => {
    const workspace = await requireProject(context, 'edit')
    const integrations = await listIntegrations(context.deps.db, workspace.project.id)
    const state = stateOf(
      DEFAULT_SETTINGS,
      integrations.map(({ uuid }) => uuid),
    )
    const isMailed = integrations.length === 0 && unavailableReason('email', context.deps.config) === null
    const added = isMailed ? { kind: 'email' as const, value: workspace.session.email } : null
    await showNew(context, workspace, { ...state, added })
  })
  pages.post('/projects/:project/checks', create)
  pages.get('/checks/:check/edit', async (context) => {
    const workspace = await requireCheckPage(context, 'edit')
    const { check } = workspace
    const rules = await findRules(context.deps.db, check.id)
    await showEdit(context, workspace, stateOf(check, check.integrationIds, rules))
  })
  pages.post('/checks/:check/edit', edit)
}

async function create(context: FormContext): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { deps, form } = context
  const { project, session } = workspace
  const actor = personOf(context, session)
  const added = readAddedIntegration(form)
  if (added && problemOfAdded(added)) return await showNew(context, workspace, stateOfForm(form, null), 400)
  try {
    const input = { project, body: bodyOf(form, true), slugFromName: false, takesRules: true }
    const { check } = await createCheck(deps.db, actor, input, deps)
    const refusal = added && (await createAdded(deps.db, actor, { project, check, added }, deps))
    if (!refusal) return redirect(context, `/checks/${check.uuid}?done=check-created`)
    const path = `/checks/${check.uuid}`
    setFlash(context, path, { notice: `The check is created without the new integration: ${refusal}` })
    redirect(context, path)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await showNew(context, workspace, stateOfForm(form, error), 400)
  }
}

async function edit(context: FormContext): Promise<void> {
  const workspace = await requireCheckPage(context, 'edit')
  const { deps, form } = context
  const { check, project, session } = workspace
  try {
    const body = bodyOf(form, false, await findRules(deps.db, check.id))
    const input = { project, id: check.id, uuid: check.uuid, body, slugFromName: false, takesRules: true }
    await updateCheck(deps.db, personOf(context, session), input, deps)
    redirect(context, `/checks/${check.uuid}?done=check-saved`)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await showEdit(context, workspace, stateOfForm(form, error), 400)
  }
}

async function loadChoices({ deps }: Context, projectId: number) {
  const [integrations, tags] = await Promise.all([listIntegrations(deps.db, projectId), listTags(deps.db, projectId)])
  return [integrations, [...new Set(tags.flatMap(splitTags))].toSorted()] as const
}

async function showNew(context: Context, workspace: ProjectWorkspace, state: CheckFormState, status = 200) {
  const { project } = workspace
  const [integrations, tags] = await loadChoices(context, project.id)
  sendPage(
    context,
    { title: 'Add check', workspace, project, area: 'checks' },
    <>
      <h1>Add check</h1>
      <CheckForm
        context={context}
        action={`/projects/${project.uuid}/checks`}
        state={state}
        integrations={integrations}
        tags={tags}
        submit="Create check"
        cancel={`/projects/${project.uuid}/checks`}
        base={`/projects/${project.uuid}`}
        isNew
      />
    </>,
    status,
  )
}

async function showEdit(context: Context, workspace: CheckWorkspace, state: CheckFormState, status = 200) {
  const { project, check } = workspace
  const [integrations, tags] = await loadChoices(context, project.id)
  sendPage(
    context,
    { title: `Edit ${nameOf(check)}`, workspace, project, area: 'checks' },
    <>
      <Crumb href={`/checks/${check.uuid}`} label={nameOf(check)} />
      <h1>Edit check</h1>
      <CheckForm
        context={context}
        action={`/checks/${check.uuid}/edit`}
        state={state}
        integrations={integrations}
        tags={tags}
        submit="Save"
        cancel={`/checks/${check.uuid}`}
        base={`/projects/${project.uuid}`}
        isNew={false}
      />
    </>,
    status,
  )
}
