import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { isUuid } from '#shared/uuid.ts'
import { checkValue } from '#shared/validation.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { findEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { OFFERED_EVENTS } from '#shared/webhooks/event-types.ts'
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
import { NewEndpointBody } from '#shared/webhooks/requests.ts'
import type { FieldErrors, FormItem } from '../forms/fields.tsx'
import { EditForm } from '../forms/form.tsx'
import { personOf } from '../shell/audit.ts'
import { Crumb } from '../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { wayOut } from '../shell/format.ts'
import { CONSOLE, type Console, loadConsole, sendConsole } from './console.tsx'

/** Validity of the old signing secret after a rotation. */
const OVERLAP_SECONDS = 24 * 3600

export function webhookActionPages(pages: Pages): void {
  pages.get(`${CONSOLE}/webhooks/new`, async (context) => {
    const console = await loadConsole(context, 'manage')
    showForm(context, console, { url: '', description: '', eventTypes: '*', ordered: false, errors: new Map() })
  })
  pages.post(`${CONSOLE}/webhooks`, create)
  pages.get(`${CONSOLE}/webhooks/:endpoint/edit`, async (context) => {
    const console = await loadConsole(context, 'manage')
    const endpoint = await requireEndpoint(context, console)
    showForm(context, console, { ...endpoint, eventTypes: endpoint.eventTypes.join('\n'), errors: new Map() }, endpoint)
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

/** Returns the parsed form, or the submitted values with their errors. */
async function readForm({ form, deps }: FormContext, { env }: Console, known?: string) {
  const typed = {
    url: field(form, 'url'),
    description: field(form, 'description'),
    eventTypes: field(form, 'eventTypes'),
    ordered: form.has('ordered'),
  }
  const eventTypes = typed.eventTypes.split(/[\s,]+/).filter((filter) => filter !== '')
  const read = checkValue(NewEndpointBody, { ...typed, eventTypes: eventTypes.length === 0 ? ['*'] : eventTypes })
  if (!read.ok) {
    const errors = new Map(read.faults.map(({ path, problem }) => [path.replace(/\[.*/, ''), `${problem}.`]))
    return { state: { ...typed, errors }, endpoint: null }
  }
  const refusal = read.value.url === known ? null : await urlRefusal(read.value.url, env, deps)
  if (refusal) return { state: { ...typed, errors: new Map([['url', sentence(refusal)]]) }, endpoint: null }
  return { state: { ...typed, errors: new Map<string, string>() }, endpoint: read.value }
}

function sentence({ message }: ValidationError): string {
  const text = message.replace(/^url /, 'the URL ').replace(/\.$/, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.${wayOut(message)}`
}

async function create(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const { state, endpoint } = await readForm(context, console)
  if (!endpoint) return showForm(context, console, state, undefined, 400)
  const { deps } = context
  const { organisationId, env } = console
  const made = await deps.outbox.run((tx) =>
    registerEndpoint(tx, personOf(context, console.session), { organisationId, env, ...endpoint }, deps),
  )
  const path = `${console.base}/webhooks/${made.endpoint.id}`
  setFlash(context, path, { notice: 'The endpoint is created.', secret: made.secret })
  redirect(context, path)
}

async function edit(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const known = await requireEndpoint(context, console)
  const { state, endpoint } = await readForm(context, console, known.url)
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
  goOn(context, console, endpoint, 'The old secret signs beside the new one for another day.', secret)
}

async function sendTest(context: FormContext): Promise<void> {
  const { console, what, actor } = await loadAction(context)
  const { now, outbox } = context.deps
  const { deliveryId } = await outbox.run((tx, enqueue) => testEndpoint(tx, actor, what, { enqueue, now }))
  const path = `${console.base}/deliveries/${deliveryId}`
  setFlash(context, path, { notice: 'A test event is on its way. Its attempt appears below.' })
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

interface EndpointFormState {
  url: string
  description: string
  /** one filter per line */
  eventTypes: string
  ordered: boolean
  /** by field name */
  errors: FieldErrors
}

const ITEMS: readonly FormItem[] = [
  {
    legend: 'Where events go',
    items: [
      {
        name: 'url',
        label: 'URL',
        placeholder: 'https://example.com/webhooks',
        maxLength: 2000,
        isRequired: true,
      },
      { name: 'description', label: 'Description', maxLength: 200, placeholder: 'Loan system' },
    ],
  },
  {
    legend: 'Which events',
    items: [
      {
        name: 'eventTypes',
        label: 'Filters',
        kind: 'lines',
        rows: 3,
        isMono: true,
        hint: 'One a line: * for all, risk_signals.* for a group, or one of the types below.',
      },
      {
        content: (
          <details>
            <summary>Types of events</summary>
            <p class="muted breakable">{OFFERED_EVENTS.join(', ')}</p>
          </details>
        ),
      },
      {
        name: 'ordered',
        label: 'In order per deal',
        kind: 'check',
        hint: 'One delivery at a time for each deal, in the order of its events.',
      },
    ],
  },
]

function EndpointForm(props: {
  context: Context
  action: string
  state: EndpointFormState
  submit: string
  cancel: string
}) {
  const { state, ...form } = props
  const { errors, ordered, url, description, eventTypes } = state
  return (
    <EditForm
      {...form}
      items={ITEMS}
      values={{ url, description, eventTypes, ordered: ordered ? 'on' : '' }}
      errors={errors}
    />
  )
}
