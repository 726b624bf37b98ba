import { ConflictError, NotFoundError, RateLimitedError, ValidationError } from '#shared/errors.ts'
import {
  type ContactKind,
  defaultRecoveries,
  isContactKind,
  withShared,
} from '#shared/monitoring/contacts/contact-kinds.ts'
import type { ContactMethod } from '#shared/monitoring/contacts/contact-method.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { shownConfig } from '#shared/monitoring/integrations/shown-config.ts'
import {
  type SentMessage,
  sendContactCode,
  testContactMethod,
  verifyContactMethod,
} from '#shared/monitoring/operations/contact-codes.ts'
import { requireContactMethod } from '#shared/monitoring/operations/contact-config.ts'
import {
  addContactMethod,
  changeContactMethod,
  changeOnCallSettings,
  enableContactMethod,
  removeContactMethod,
  saveContactRules,
} from '#shared/monitoring/operations/contacts.ts'
import { isUuid } from '#shared/uuid.ts'
import { fieldErrors } from '../../monitoring/integrations/labels.ts'
import { createOwnFeed, endOwnFeed } from '../../monitoring/on-call/feeds.tsx'
import { personOf } from '../../shell/audit.ts'
import { Crumb } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { sendPage } from '../../shell/layout.tsx'
import { signedIn, type Workspace } from '../../shell/workspace.ts'
import { inputOf, loadViaOptions, MethodForm, type MethodInput } from './method-form.tsx'
import { MethodHead } from './method-page.tsx'
import { showOverview } from './overview.tsx'
import { entriesOf, errorsOf, sentValues, settingsOf } from './rules-form.tsx'

const BASE = '/account/notifications'

export function notificationPages(pages: Pages): void {
  pages.get(BASE, (context) => showOverview(context))
  pages.post(`${BASE}/rules`, saveRules)
  pages.post(`${BASE}/settings`, saveSettings)
  pages.post(`${BASE}/feed`, async (context) => {
    await createOwnFeed(context, (await signedIn(context)).session, BASE)
  })
  pages.post(`${BASE}/feed/revoke`, async (context) => {
    await endOwnFeed(context, (await signedIn(context)).session, BASE)
  })
  pages.get(`${BASE}/new/:kind`, async (context) => {
    const workspace = await signedIn(context)
    const kind = kindOf(context)
    const input = { name: '', config: {}, via: null, recoveries: defaultRecoveries(kind) }
    await showNew(context, workspace, kind, { input, problem: null, errors: new Map() })
  })
  pages.post(`${BASE}/new/:kind`, add)
  pages.get(`${BASE}/:method`, async (context) => {
    const { method, ...workspace } = await requireOwn(context)
    await showMethod(context, workspace, method, { input: inputOfMethod(method), problem: null, errors: new Map() })
  })
  pages.post(`${BASE}/:method`, change)
  pages.post(`${BASE}/:method/code`, (context) =>
    sendThrough(context, sendContactCode, 'A code was sent. Enter it below within 15 minutes.', 'The code'),
  )
  pages.post(`${BASE}/:method/test`, (context) =>
    sendThrough(context, testContactMethod, 'A test message was sent.', 'The test message'),
  )
  pages.post(`${BASE}/:method/verify`, verify)
  pages.post(`${BASE}/:method/enable`, async (context) => {
    const { own, actor } = await requireOwn(context)
    await enableContactMethod(context.deps.db, actor, own, context.deps)
    redirect(context, `${BASE}/${own.id}`)
  })
  pages.post(`${BASE}/:method/delete`, async (context) => {
    const { own, actor } = await requireOwn(context)
    await removeContactMethod(context.deps.db, actor, own, context.deps)
    setFlash(context, BASE, { notice: 'The contact method was deleted.' })
    redirect(context, BASE)
  })
}

/** @throws NotFoundError for methods of other persons */
async function requireOwn(context: Context) {
  const workspace = await signedIn(context)
  const id = context.params.method ?? ''
  if (!isUuid(id)) throw new NotFoundError('There is no such contact method, or it is not one of yours.')
  const own = { userId: workspace.session.userId, id }
  const method = await requireContactMethod(context.deps.db, context.deps.secrets, own)
  return { ...workspace, own, method, actor: personOf(context, workspace.session) }
}

/** @throws NotFoundError for kinds that are not contact methods */
function kindOf(context: Context): ContactKind {
  const kind = context.params.kind ?? ''
  if (!isContactKind(kind)) throw new NotFoundError('There is no such type of contact method.')
  return kind
}

function integrationKind(kind: ContactKind) {
  const found = findKind(kind)
  if (!found) throw new Error(`no kind ${kind}`)
  return found
}

async function add(context: FormContext): Promise<void> {
  const workspace = await signedIn(context)
  const { session } = workspace
  const kind = kindOf(context)
  const input = inputOf(context.form, integrationKind(kind))
  try {
    const actor = personOf(context, session)
    const id = await addContactMethod(context.deps.db, actor, { ...input, kind, userId: session.userId }, context.deps)
    setFlash(context, `${BASE}/${id}`, { notice: 'Added. Verify it: nothing else is sent before.' })
    redirect(context, `${BASE}/${id}`)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await showNew(context, workspace, kind, { input, ...faultsOf(error, kind, input, true) }, 400)
  }
}

async function change(context: FormContext): Promise<void> {
  const { method, own, actor, ...workspace } = await requireOwn(context)
  const input = inputOf(context.form, integrationKind(method.kind))
  try {
    const { isVerified } = await changeContactMethod(context.deps.db, actor, { ...own, ...input }, context.deps)
    const isLost = method.isVerified && !isVerified
    setFlash(context, `${BASE}/${own.id}`, {
      notice: isLost ? 'Saved. The address has changed: verify it again.' : 'Saved.',
    })
    redirect(context, `${BASE}/${own.id}`)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await showMethod(context, workspace, method, { input, ...faultsOf(error, method.kind, input, false) }, 400)
  }
}

interface MethodState {
  input: MethodInput
  problem: string | null
  errors: ReadonlyMap<string, string>
}

/** Returns errors by field, or a problem above the form. With an integration its members are not in the form. */
function faultsOf(
  error: ValidationError,
  kind: ContactKind,
  input: MethodInput,
  isNew: boolean,
): Omit<MethodState, 'input'> {
  const errors =
    input.via === null ? fieldErrors(integrationKind(kind), input.config, isNew) : new Map<string, string>()
  if (errors.size > 0) return { problem: null, errors }
  const text = error.message.replace(/^config\.?/, '').trim()
  return { problem: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`, errors: new Map() }
}

async function sendThrough(
  context: FormContext,
  send: typeof sendContactCode,
  notice: string,
  what: string,
): Promise<void> {
  const { own, actor } = await requireOwn(context)
  const path = `${BASE}/${own.id}`
  try {
    const sent: SentMessage = await send(context.deps.db, actor, own, context.deps)
    if (sent === null) setFlash(context, path, { notice: `${what} is on its way.` })
    else if (sent.error === '') setFlash(context, path, { notice })
    else setFlash(context, path, { problem: `${what} could not be sent: ${sent.error}.` })
  } catch (error) {
    if (!(error instanceof RateLimitedError) && !(error instanceof ConflictError)) throw error
    if (error instanceof RateLimitedError) throw error
    setFlash(context, path, { problem: `${what} was not sent: ${error.message}.` })
  }
  redirect(context, path)
}

async function verify(context: FormContext): Promise<void> {
  const { own, actor } = await requireOwn(context)
  const path = `${BASE}/${own.id}`
  try {
    await verifyContactMethod(context.deps.db, actor, { ...own, code: field(context.form, 'code') }, context.deps)
    setFlash(context, BASE, { notice: 'The contact method is verified.' })
    redirect(context, BASE)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    setFlash(context, path, { problem: `The ${error.message}.` })
    redirect(context, path)
  }
}

async function saveRules(context: FormContext): Promise<void> {
  const { session } = await signedIn(context)
  const critical = entriesOf(context.form, 'critical')
  const other = entriesOf(context.form, 'other')
  try {
    await saveContactRules(context.deps.db, session.userId, { critical: critical.entries, other: other.entries })
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    const errors = errorsOf(error.message, { critical: critical.rows, other: other.rows })
    return await showOverview(context, { rules: { values: sentValues(context.form), errors } }, 400)
  }
  setFlash(context, BASE, { notice: 'The rules are saved.' })
  redirect(context, BASE)
}

async function saveSettings(context: FormContext): Promise<void> {
  const { session } = await signedIn(context)
  const { body, rows } = settingsOf(context.form)
  try {
    await changeOnCallSettings(context.deps.db, session.userId, body)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    const errors = errorsOf(error.message, { quiet: rows })
    return await showOverview(context, { settings: { values: sentValues(context.form), errors } }, 400)
  }
  setFlash(context, BASE, { notice: 'Quiet hours and shift notices are saved.' })
  redirect(context, BASE)
}

function inputOfMethod({ kind, name, config, via, recoveries }: ContactMethod): MethodInput {
  const shown = shownConfig(integrationKind(kind), config ?? {})
  return { name, config: via === null ? shown : withShared(kind, shown, {}), via, recoveries }
}

async function showNew(
  context: Context,
  workspace: Workspace,
  kind: ContactKind,
  state: MethodState,
  status = 200,
): Promise<void> {
  const viaOptions = await loadViaOptions(context, workspace, kind)
  const { label } = integrationKind(kind)
  sendPage(
    context,
    { title: `Add ${label}`, workspace, area: 'account' },
    <>
      <Crumb href={BASE} label="My notifications" />
      <h1>Add contact method: {label}</h1>
      <MethodForm
        context={context}
        action={`${BASE}/new/${kind}`}
        kind={integrationKind(kind)}
        contactKind={kind}
        viaOptions={viaOptions}
        isAccount={false}
        isNew
        {...state}
      />
    </>,
    status,
  )
}

async function showMethod(
  context: Context,
  workspace: Workspace,
  method: ContactMethod,
  state: MethodState,
  status = 200,
): Promise<void> {
  const { kind } = method
  const viaOptions = await loadViaOptions(context, workspace, kind)
  const { label } = integrationKind(kind)
  sendPage(
    context,
    { title: method.name || label, workspace, area: 'account' },
    <>
      <Crumb href={BASE} label="My notifications" />
      <h1>{method.name || label}</h1>
      <div class="settings">
        <MethodHead context={context} method={method} />
        <section class="card" aria-labelledby="settings-title">
          <h2 id="settings-title">Settings</h2>
          {method.isAccount && (
            <p class="hint">
              This is the address of your account. Change it on <a href="/account">the account page</a>.
            </p>
          )}
          <MethodForm
            context={context}
            action={`${BASE}/${method.id}`}
            kind={integrationKind(kind)}
            contactKind={kind}
            viaOptions={viaOptions}
            isAccount={method.isAccount}
            isNew={false}
            {...state}
          />
        </section>
      </div>
    </>,
    status,
  )
}
