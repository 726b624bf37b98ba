import { notificationDue } from '#shared/contracts/notification-due.ts'
import { NotFoundError, ValidationError } from '#shared/errors.ts'
import type { ChannelKind } from '#shared/monitoring/channels/kind.ts'
import { findKind } from '#shared/monitoring/channels/kinds.ts'
import { type ConfigObject, shownConfig, withStoredSecrets } from '#shared/monitoring/channels/shown-config.ts'
import { deleteChannel, insertChannel, listChannels, updateChannel } from '#shared/monitoring/channels/store.ts'
import { insertNotifications } from '#shared/monitoring/notifications/store.ts'
import { checkConfig, checkName, openConfig } from '#shared/monitoring/operations/integration-config.ts'
import { askRecipient, knownRecipients, recipientOf } from '#shared/monitoring/operations/recipients.ts'
import { assignToAllChecks } from '#shared/monitoring/pages/integration-store.ts'
import { audit } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { openProject, type ProjectWorkspace } from '../frame/workspace.ts'
import { configOf, optionFields } from './fields.ts'
import { IntegrationForm } from './form.tsx'
import { labelOfKind } from './labels.ts'
import { openIntegration } from './open-integration.ts'

/** Creating, changing, testing and removing integrations, by the rules of the management API. */
export function integrationWritePages(pages: Pages): void {
  pages.get('/projects/:project/integrations/new/:kind', async (context) => {
    const workspace = await openProject(context, 'edit')
    await showNew(context, workspace, { name: '', config: {}, problem: null })
  })
  pages.post('/projects/:project/integrations/new/:kind', create)
  pages.get('/integrations/:integration/edit', async (context) => {
    const { channel } = await openIntegration(context, 'edit')
    const kind = kindOf(channel.kind)
    const config = shownConfig(kind, openConfig(channel, context.deps.secrets))
    await showEdit(context, { name: channel.name, config, problem: null })
  })
  pages.post('/integrations/:integration/edit', change)
  pages.post('/integrations/:integration/test', sendTest)
  pages.post('/integrations/:integration/enable', enable)
  pages.post('/integrations/:integration/ask', askAgain)
  pages.post('/integrations/:integration/delete', remove)
}

/** @throws NotFoundError for a kind that this version does not know */
function kindOf(name: string): ChannelKind {
  const kind = findKind(name)
  if (!kind) throw new NotFoundError('There is no such kind of integration.')
  return kind
}

async function create(context: FormContext): Promise<void> {
  const workspace = await openProject(context, 'edit')
  const { project } = workspace
  const { deps, form } = context
  const kind = kindOf(context.params.kind ?? '')
  const given = configOf(optionFields(kind), form)
  try {
    const name = checkName(field(form, 'name'))
    const config = await checkConfig(deps, project.id, kind, given)
    const sealedConfig = deps.secrets.seal(JSON.stringify(config))
    const address = recipientOf(kind.kind, config)
    const channel = await deps.outbox.run(async (tx, enqueue) => {
      const isEmailVerified = address === null || (await knownRecipients({ ...deps, db: tx }, project.id))(address)
      const created = { projectId: project.id, kind: kind.kind, name, sealedConfig, isEmailVerified }
      const made = await insertChannel(tx, created)
      if (form.has('all')) await assignToAllChecks(tx, made.id, project.id)
      await audit(context, project.organisationId, 'integration.created', `${name} (${kind.label})`, tx)
      if (!isEmailVerified) await askRecipient(tx, enqueue, deps, project.id, { uuid: made.uuid, address })
      return made
    })
    const done = channel.isEmailVerified ? 'integration-created' : 'recipient-asked'
    redirect(context, `/integrations/${channel.uuid}?done=${done}`)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    const state = { name: field(form, 'name'), config: shownConfig(kind, given), problem: sentence(error) }
    await showNew(context, workspace, state, 400)
  }
}

async function change(context: FormContext): Promise<void> {
  const { channel, project } = await openIntegration(context, 'edit')
  const { deps, form } = context
  const kind = kindOf(channel.kind)
  const given = configOf(optionFields(kind), form)
  try {
    const name = checkName(field(form, 'name'))
    const stored = openConfig(channel, deps.secrets)
    const whole = withStoredSecrets(kind, given, stored)
    const config = await checkConfig(deps, project.id, kind, whole)
    const sealedConfig = deps.secrets.seal(JSON.stringify(config))
    const address = config.value === stored.value ? null : recipientOf(kind.kind, config)
    const isAsked = await deps.outbox.run(async (tx, enqueue) => {
      const isKnown = address === null || (await knownRecipients({ ...deps, db: tx }, project.id))(address)
      const consent = address === null ? {} : { isEmailVerified: isKnown }
      await updateChannel(tx, channel.id, { name, sealedConfig, ...consent })
      await audit(context, project.organisationId, 'integration.changed', `${name} (${kind.label})`, tx)
      if (!isKnown) await askRecipient(tx, enqueue, deps, project.id, { uuid: channel.uuid, address })
      return !isKnown
    })
    redirect(context, `/integrations/${channel.uuid}?done=${isAsked ? 'recipient-asked' : 'integration-saved'}`)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await showEdit(context, { name: field(form, 'name'), config: given, problem: sentence(error) }, 400)
  }
}

/** `config.url_down must be a URL` is about the field `url_down` of the form. */
function sentence(error: ValidationError): string {
  const text = error.message.replace(/^config\.?/, '').trim()
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

async function sendTest(context: FormContext): Promise<void> {
  const { channel, project } = await openIntegration(context, 'edit')
  await context.deps.outbox.run(async (tx, enqueue) => {
    const test = { flipId: null, checkId: null, status: 'down' } as const
    for (const notificationId of await insertNotifications(tx, test, [channel.id])) {
      await enqueue(notificationDue, { notificationId })
    }
    await audit(context, project.organisationId, 'integration.tested', channel.name || channel.kind, tx)
  })
  redirect(context, `/integrations/${channel.uuid}?done=test-queued`)
}

async function enable(context: FormContext): Promise<void> {
  const { channel, project } = await openIntegration(context, 'edit')
  await updateChannel(context.deps.db, channel.id, { disabled: false })
  await audit(context, project.organisationId, 'integration.enabled', channel.name || channel.kind)
  redirect(context, `/integrations/${channel.uuid}?done=integration-enabled`)
}

async function askAgain(context: FormContext): Promise<void> {
  const { channel, project } = await openIntegration(context, 'edit')
  if (channel.isEmailVerified) throw new NotFoundError('There is nothing to ask the recipient of this integration.')
  const { deps } = context
  const address = recipientOf(channel.kind, openConfig(channel, deps.secrets)) ?? ''
  await deps.outbox.run((tx, enqueue) => askRecipient(tx, enqueue, deps, project.id, { uuid: channel.uuid, address }))
  redirect(context, `/integrations/${channel.uuid}?done=recipient-asked`)
}

async function remove(context: FormContext): Promise<void> {
  const { channel, project } = await openIntegration(context, 'edit')
  await deleteChannel(context.deps.db, project.id, channel.uuid)
  await audit(context, project.organisationId, 'integration.deleted', channel.name || channel.kind)
  redirect(context, `/projects/${project.uuid}/integrations?done=integration-deleted`)
}

interface State {
  name: string
  config: ConfigObject
  problem: string | null
}

async function showNew(context: Context, workspace: ProjectWorkspace, state: State, status = 200): Promise<void> {
  const { project } = workspace
  const kind = kindOf(context.params.kind ?? '')
  const others = (await listChannels(context.deps.db, project.id)).filter((one) => one.kind !== 'group')
  const base = `/projects/${project.uuid}/integrations`
  sendPage(
    context,
    { title: `New ${kind.label} integration`, workspace, project, area: 'integrations' },
    <>
      <p class="crumb">
        <a href={`${base}/new`}>All kinds</a>
      </p>
      <h1>New integration</h1>
      <IntegrationForm
        context={context}
        action={`${base}/new/${kind.kind}`}
        kind={kind}
        {...state}
        others={others}
        isNew
        cancel={base}
      />
    </>,
    status,
  )
}

async function showEdit(context: Context, state: State, status = 200): Promise<void> {
  const workspace = await openIntegration(context, 'edit')
  const { channel, project } = workspace
  const others = (await listChannels(context.deps.db, project.id)).filter((one) => one.kind !== 'group')
  const path = `/integrations/${channel.uuid}`
  sendPage(
    context,
    { title: 'Edit integration', workspace, project, area: 'integrations' },
    <>
      <p class="crumb">
        <a href={path}>{channel.name || labelOfKind(channel.kind)}</a>
      </p>
      <h1>Edit integration</h1>
      <IntegrationForm
        context={context}
        action={`${path}/edit`}
        kind={kindOf(channel.kind)}
        {...state}
        others={others}
        isNew={false}
        cancel={path}
      />
    </>,
    status,
  )
}
