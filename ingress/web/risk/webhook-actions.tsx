import { ConflictError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { isUuid } from '#shared/uuid.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { findEndpoint } from '#shared/webhooks/endpoint-store.ts'
import {
  editEndpoint,
  registerEndpoint,
  removeEndpoint,
  rotateSecret,
  switchOffEndpoint,
  switchOnEndpoint,
  testEndpoint,
  urlRefusal,
} from '#shared/webhooks/operations/endpoints.ts'
import { personOf } from '../shell/audit.ts'
import { Crumb } from '../shell/basics.tsx'
import { type Context, type FormContext, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { remedyFor } from '../shell/format.ts'
import { CONSOLE, type Console, loadConsole, sendConsole } from './console.tsx'
import { EndpointForm, type EndpointFormState, formOf, readEndpoint, sentence } from './webhook-form.tsx'

/** Validity of the old signing secret after a rotation. */
const OVERLAP_SECONDS = 24 * 3600

export function webhookActionPages(pages: Pages): void {
  pages.get(`${CONSOLE}/webhooks/new`, async (context) => {
    const console = await loadConsole(context, 'manage')
    showForm(context, console, formOf({ url: '', description: '', eventTypes: ['*'], ordered: false }))
  })
  pages.post(`${CONSOLE}/webhooks`, create)
  pages.get(`${CONSOLE}/webhooks/:endpoint/edit`, async (context) => {
    const console = await loadConsole(context, 'manage')
    const endpoint = await requireEndpoint(context, console)
    showForm(context, console, formOf(endpoint), endpoint)
  })
  pages.post(`${CONSOLE}/webhooks/:endpoint/edit`, edit)
  pages.post(`${CONSOLE}/webhooks/:endpoint/disable`, disable)
  pages.post(`${CONSOLE}/webhooks/:endpoint/enable`, enable)
  pages.post(`${CONSOLE}/webhooks/:endpoint/rotate`, rotate)
  pages.post(`${CONSOLE}/webhooks/:endpoint/test`, sendTest)
  pages.post(`${CONSOLE}/webhooks/:endpoint/delete`, remove)
}

/** @throws NotFoundError alike for unknown endpoints and those of other organisations */
export async function requireEndpoint(context: Context, console: Console): Promise<Endpoint> {
  const id = context.params.endpoint ?? ''
  const endpoint = isUuid(id) ? await findEndpoint(context.deps.db, console, id) : undefined
  if (!endpoint) throw new NotFoundError('There is no such endpoint, or it is not one of yours.')
  return endpoint
}

function showForm(context: Context, console: Console, state: EndpointFormState, endpoint?: Endpoint, status = 200) {
  const list = `${console.base}/webhooks`
  const path = endpoint ? `${list}/${endpoint.id}` : list
  sendConsole(
    context,
    console,
    { title: endpoint ? 'Edit endpoint' : 'New endpoint', area: 'webhooks' },
    <>
      <Crumb href={path} label={endpoint?.url ?? 'Webhook endpoints'} />
      <h1>{endpoint ? 'Edit endpoint' : 'New endpoint'}</h1>
      <p class="muted">
        Signalbox sends each event as a signed <code>POST</code> request with JSON to this URL.
        {console.env === 'SANDBOX' && ' In the sandbox, events are signed and stored, but not sent.'}
      </p>
      <EndpointForm
        context={context}
        action={endpoint ? `${path}/edit` : list}
        state={state}
        submit={endpoint ? 'Save' : 'Create endpoint'}
        cancel={path}
      />
    </>,
    status,
  )
}

/** Returns the parsed form, or null beside the submitted values with their errors. @param known the edited endpoint */
async function readForm({ form, deps }: FormContext, { env }: Console, known?: Endpoint) {
  const { state, endpoint } = readEndpoint(form, known?.eventTypes ?? [])
  if (!endpoint) return { state, endpoint }
  const refusal = endpoint.url === known?.url ? null : await urlRefusal(endpoint.url, env, deps)
  if (refusal) return { state: { ...state, errors: new Map([['url', refusalText(refusal)]]) }, endpoint: null }
  return { state, endpoint }
}

function refusalText({ message }: ValidationError): string {
  const text = message.replace(/^url /, 'the URL ').replace(/\.$/, '')
  return `${sentence(text)}${remedyFor(message)}`
}

async function create(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const { state, endpoint } = await readForm(context, console)
  if (!endpoint) return showForm(context, console, state, undefined, 400)
  const { deps } = context
  const { organisationId, env } = console
  const owner = { organisationId, env }
  try {
    const made = await deps.outbox.run((tx) =>
      registerEndpoint(tx, personOf(context, console.session), { ...owner, ...endpoint }, deps),
    )
    const path = `${console.base}/webhooks/${made.endpoint.id}`
    setFlash(context, path, { notice: 'The endpoint is created.', secret: made.secret })
    redirect(context, path)
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
    const errors = new Map([['url', sentence(error.message)]])
    showForm(context, console, { ...state, errors }, undefined, 409)
  }
}

async function edit(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const known = await requireEndpoint(context, console)
  const { state, endpoint } = await readForm(context, console, known)
  if (!endpoint) return showForm(context, console, state, known, 400)
  await context.deps.outbox.run((tx) =>
    editEndpoint(tx, personOf(context, console.session), { scope: console, endpointId: known.id, change: endpoint }),
  )
  goOn(context, console, known, 'The endpoint is saved.')
}

async function disable(context: FormContext): Promise<void> {
  const { console, endpoint, what, actor } = await loadAction(context)
  await context.deps.outbox.run((tx) => switchOffEndpoint(tx, actor, what, context.deps))
  goOn(context, console, endpoint, 'The endpoint is switched off. Its events are kept and can be replayed.')
}

async function enable(context: FormContext): Promise<void> {
  const { console, endpoint, what, actor } = await loadAction(context)
  const refusal = await urlRefusal(endpoint.url, console.env, context.deps)
  if (refusal) throw new ValidationError(refusal.message)
  const releasePaused = context.form.has('release')
  await context.deps.outbox.run((tx, enqueue) => switchOnEndpoint(tx, actor, { ...what, releasePaused }, { enqueue }))
  goOn(context, console, endpoint, 'The endpoint is switched on again.')
}

async function rotate(context: FormContext): Promise<void> {
  const { console, endpoint, what, actor } = await loadAction(context)
  const { secret } = await context.deps.outbox.run((tx) =>
    rotateSecret(tx, actor, { ...what, overlapSeconds: OVERLAP_SECONDS }, context.deps),
  )
  goOn(context, console, endpoint, 'The new secret is created. The old one stays valid for 24 hours.', secret)
}

async function sendTest(context: FormContext): Promise<void> {
  const { console, what, actor } = await loadAction(context)
  const { now, outbox } = context.deps
  const { deliveryId } = await outbox.run((tx, enqueue) => testEndpoint(tx, actor, what, { enqueue, now }))
  const path = `${console.base}/deliveries/${deliveryId}`
  setFlash(context, path, { notice: 'The test event is being sent. Its attempt appears below.' })
  redirect(context, path)
}

async function remove(context: FormContext): Promise<void> {
  const { console, endpoint, what, actor } = await loadAction(context)
  await context.deps.outbox.run((tx) => removeEndpoint(tx, actor, what, context.deps))
  const path = `${console.base}/webhooks`
  setFlash(context, path, { notice: `${endpoint.url} is deleted.` })
  redirect(context, path)
}

async function loadAction(context: FormContext) {
  const console = await loadConsole(context, 'manage')
  const endpoint = await requireEndpoint(context, console)
  const actor = personOf(context, console.session)
  return { console, endpoint, actor, what: { scope: console, endpointId: endpoint.id } }
}

function goOn(context: Context, console: Console, { id }: Endpoint, notice: string, secret?: string): void {
  const path = `${console.base}/webhooks/${id}`
  setFlash(context, path, { notice, ...(secret !== undefined && { secret }) })
  redirect(context, path)
}
