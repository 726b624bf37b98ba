import type { ComponentChildren } from 'preact'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import { webhook } from '#shared/monitoring/integrations/kinds/webhook.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { type ConfigObject, shownConfig } from '#shared/monitoring/integrations/shown-config.ts'
import { findIntegration, listIntegrations, type StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { decryptConfig, needsSettings } from '#shared/monitoring/operations/integration-config.ts'
import {
  createIntegration,
  deleteIntegration,
  testIntegration,
  updateIntegration,
} from '#shared/monitoring/operations/integrations.ts'
import { requestVerificationAgain } from '#shared/monitoring/operations/recipients.ts'
import { personOf } from '../../shell/audit.ts'
import { Crumb } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { goBack, setFlash } from '../../shell/flash.ts'
import { remedyFor } from '../../shell/format.ts'
import { sendPage } from '../../shell/layout.tsx'
import { type ProjectWorkspace, requireProject } from '../../shell/workspace.ts'
import { chosenConfig, configOf, optionFields } from './fields.ts'
import { IntegrationForm, SAVE_AND_TEST } from './form.tsx'
import { fieldErrors, labelOfKind } from './labels.ts'
import { requireIntegrationOf } from './load-integration.ts'
import { trialOf, WebhookPreview } from './webhook-preview.tsx'

export function integrationWritePages(pages: Pages): void {
  pages.get('/projects/:project/integrations/new/:kind', async (context) => {
    const workspace = await requireProject(context, 'edit')
    const config = context.params.kind === 'email' ? { value: workspace.session.email } : {}
    await showNew(context, workspace, { name: '', config, problem: null })
  })
  pages.post('/projects/:project/integrations/new/:kind', create)
  pages.get('/integrations/:integration/edit', async (context) => {
    const { integration } = await requireIntegrationOf(context, 'edit')
    const kind = kindOf(integration.kind)
    const config = chosenConfig(shownConfig(kind, decryptConfig(integration, context.deps.secrets)))
    await showEdit(context, { name: integration.name, config, problem: null })
  })
  pages.post('/integrations/:integration/edit', change)
  pages.post('/integrations/:integration/test', sendTest)
  pages.post('/integrations/:integration/enable', (context) => switchTo(context, true))
  pages.post('/integrations/:integration/disable', (context) => switchTo(context, false))
  pages.post('/integrations/:integration/ask', resendVerification)
  pages.post('/integrations/:integration/delete', remove)
}

/** @throws NotFoundError for an unknown kind */
function kindOf(name: string): IntegrationKind {
  const kind = findKind(name)
  if (!kind) throw new NotFoundError('There is no such type of integration.')
  return kind
}

async function create(context: FormContext): Promise<void> {
  const workspace = await requireProject(context, 'edit')
  const { project, session } = workspace
  const { deps, form } = context
  const kind = kindOf(context.params.kind ?? '')
  const config = configOf(optionFields(kind), form)
  const given = { name: field(form, 'name'), config, isForAll: form.has('all') }
  const preview = previewOf(form, kind, config)
  if (preview) return await showNew(context, workspace, { ...given, ...preview })
  try {
    const trial = kind.kind === webhook.kind && (await trialOf(context, workspace, { integration: null, config }))
    if (trial) return await showNew(context, workspace, { ...given, ...trial })
    const input = {
      project,
      kind: kind.kind,
      name: given.name,
      config,
      ...(given.isForAll && { checks: 'all' as const }),
    }
    const integration = await createIntegration(deps.db, personOf(context, session), input, deps)
    if (form.get('do') === SAVE_AND_TEST) return await testSaved(context, { integration, project, session })
    const done = integration.isEmailVerified ? 'integration-created' : 'recipient-requested'
    redirect(context, `/integrations/${integration.uuid}?done=${done}`)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    const state = { ...given, config: shownConfig(kind, config), ...wrong(error, kind, config, true) }
    await showNew(context, workspace, state, 400)
  }
}

async function change(context: FormContext): Promise<void> {
  const workspace = await requireIntegrationOf(context, 'edit')
  const { integration, project, session } = workspace
  const { deps, form } = context
  const name = field(form, 'name')
  const kind = kindOf(integration.kind)
  const config = configOf(optionFields(kind), form)
  const preview = previewOf(form, kind, config)
  if (preview) return await showEdit(context, { name, config, ...preview })
  try {
    const trial = kind.kind === webhook.kind && (await trialOf(context, workspace, { integration, config }))
    if (trial) return await showEdit(context, { name, config, ...trial })
    const input = { project, integration, name, config }
    const { isRefreshing } = await updateIntegration(deps.db, personOf(context, session), input, deps)
    if (form.get('do') === SAVE_AND_TEST) {
      const saved = await findIntegration(deps.db, project.id, integration.uuid)
      return await testSaved(context, { integration: saved ?? integration, project, session })
    }
    redirect(
      context,
      `/integrations/${integration.uuid}?done=${isRefreshing ? 'recipient-requested' : 'integration-saved'}`,
    )
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await showEdit(context, { name, config, ...wrong(error, kind, config, false) }, 400)
  }
}

/** Returns the preview if the form requests it instead of saving. */
function previewOf(
  form: URLSearchParams,
  kind: IntegrationKind,
  config: ConfigObject,
): Pick<State, 'problem' | 'preview' | 'errors'> | null {
  if (kind.kind !== 'webhook' || form.get('do') !== 'preview') return null
  const read = webhook.parse(config)
  if (read.ok) return { problem: null, preview: <WebhookPreview config={read.config} /> }
  const [first] = read.faults
  return wrong(new ValidationError(`${first?.path} ${first?.problem}`), kind, config, true)
}

/** Returns errors by field, or a problem above the form if no field has an error. */
function wrong(error: ValidationError, kind: IntegrationKind, config: ConfigObject, isNew: boolean) {
  const errors = fieldErrors(kind, config, isNew)
  return errors.size > 0 ? { problem: null, errors } : { problem: sentence(error, kind) }
}

/** Replaces the API name of a field by its label. */
function sentence(error: ValidationError, kind: IntegrationKind): string {
  const options = optionFields(kind)
  const plain = error.message.replace(/^config\.?/, '').trim()
  const text = options.some(({ name }) => name === 'url') ? plain.replace(/^has a URL that /, 'url ') : plain
  const [name = ''] = text.split(' ')
  const option = options.find((field) => field.name === name)
  const message = option ? `${option.label}: ${text.slice(name.length + 1)}` : text
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.${remedyFor(text)}`
}

async function sendTest(context: FormContext): Promise<void> {
  const { integration, project, session } = await requireIntegrationOf(context, 'edit')
  const path = `/integrations/${integration.uuid}`
  if (!integration.isEmailVerified) return goBack(context, path, { notice: `No test was sent. ${UNCONFIRMED}` })
  const status = field(context.form, 'status') === 'up' ? 'up' : 'down'
  await testIntegration(personOf(context, session), { project, integration, status }, context.deps)
  goBack(context, path, { notice: testNotice(context) })
}

const UNCONFIRMED = 'Its recipient received a mail to confirm. Send a test once they have agreed.'

function testNotice({ pingRefusal }: Context): string {
  return pingRefusal === null
    ? 'A test message is on its way. Its result is shown in a moment.'
    : 'The test message is stored. It is sent when the message broker is available again.'
}

/**
 * Sends a test through the integration that was just saved; its page shows the result. Sends none to a recipient who
 * must first confirm.
 */
async function testSaved(
  context: FormContext,
  { integration, project, session }: { integration: StoredIntegration } & Pick<ProjectWorkspace, 'project' | 'session'>,
): Promise<void> {
  const path = `/integrations/${integration.uuid}`
  const { isEmailVerified } = integration
  if (isEmailVerified) {
    await testIntegration(personOf(context, session), { project, integration, status: 'down' }, context.deps)
  }
  const notice = isEmailVerified ? testNotice(context) : UNCONFIRMED
  setFlash(context, path, { notice: `The integration is saved. ${notice}` })
  redirect(context, path)
}

async function switchTo(context: FormContext, isOn: boolean): Promise<void> {
  const { integration, project, session } = await requireIntegrationOf(context, 'edit')
  const { deps } = context
  const path = `/integrations/${integration.uuid}`
  if (isOn && needsSettings(integration, deps.secrets)) {
    return goBack(context, path, { notice: 'Not switched on: enter the settings of the integration first.' })
  }
  await updateIntegration(deps.db, personOf(context, session), { project, integration, disabled: !isOn }, deps)
  const notice = isOn
    ? 'The integration is switched on.'
    : 'The integration is switched off: it sends no notifications.'
  goBack(context, path, { notice })
}

async function resendVerification(context: FormContext): Promise<void> {
  const { integration, project, session } = await requireIntegrationOf(context, 'edit')
  await requestVerificationAgain(personOf(context, session), { project, integration }, context.deps)
  redirect(context, `/integrations/${integration.uuid}?done=recipient-requested`)
}

async function remove(context: FormContext): Promise<void> {
  const { integration, project, session } = await requireIntegrationOf(context, 'edit')
  await deleteIntegration(context.deps.db, personOf(context, session), { project, integration })
  redirect(context, `/projects/${project.uuid}/integrations?done=integration-deleted`)
}

interface State {
  name: string
  config: ConfigObject
  isForAll?: boolean
  problem: string | null
  errors?: ReadonlyMap<string, string>
  preview?: ComponentChildren
}

async function showNew(context: Context, { project, ...workspace }: ProjectWorkspace, state: State, status = 200) {
  const kind = kindOf(context.params.kind ?? '')
  const base = `/projects/${project.uuid}/integrations`
  await show(context, { ...workspace, project }, status, {
    title: `New ${kind.label} integration`,
    heading: `New integration: ${kind.label}`,
    crumb: { href: `${base}/new`, label: 'All types' },
    form: { ...state, kind, action: `${base}/new/${kind.kind}`, isNew: true, cancel: base },
  })
}

async function showEdit(context: Context, state: State, status = 200): Promise<void> {
  const { integration, ...workspace } = await requireIntegrationOf(context, 'edit')
  const path = `/integrations/${integration.uuid}`
  await show(context, workspace, status, {
    title: 'Edit integration',
    heading: 'Edit integration',
    crumb: { href: path, label: integration.name || labelOfKind(integration.kind) },
    form: { ...state, kind: kindOf(integration.kind), action: `${path}/edit`, isNew: false, cancel: path },
  })
}

async function show(
  context: Context,
  workspace: ProjectWorkspace,
  status: number,
  page: {
    title: string
    heading: string
    crumb: { href: string; label: string }
    form: Omit<Parameters<typeof IntegrationForm>[0], 'context' | 'others'>
  },
): Promise<void> {
  const { project } = workspace
  const others = (await listIntegrations(context.deps.db, project.id)).filter(({ kind }) => kind !== 'group')
  sendPage(
    context,
    { title: page.title, workspace, project, area: 'integrations' },
    <>
      <Crumb {...page.crumb} />
      <h1>{page.heading}</h1>
      <IntegrationForm context={context} others={others} {...page.form} />
    </>,
    status,
  )
}
