import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { listConsoleClients, listEntitlements } from '#shared/risk/risk-console/store.ts'
import { CLIENT_SCOPES, FAMILIES } from '#shared/tenancy/oauth/families.ts'
import { changeFamilies, createClient, rotateClientSecret, switchClient } from '#shared/tenancy/operations/clients.ts'
import { listWithheldFamilies } from '#shared/tenancy/organisations/store.ts'
import { personOf } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { ClientsPage, type ClientsView } from './clients-page.tsx'
import { CONSOLE, type Console, loadConsole, sendConsole } from './console.tsx'
import { familyName } from './family-names.ts'

/** The API clients and entitlements of an organisation. Owners change both. */
export function clientPages(pages: Pages): void {
  pages.get(`${CONSOLE}/clients`, showClients)
  pages.post(`${CONSOLE}/clients`, create)
  pages.post(`${CONSOLE}/clients/:client/rotate`, rotate)
  pages.post(`${CONSOLE}/clients/:client/disable`, (context) => switchOne(context, true))
  pages.post(`${CONSOLE}/clients/:client/enable`, (context) => switchOne(context, false))
  pages.post(`${CONSOLE}/families/:family/grant`, (context) => changeOne(context, true))
  pages.post(`${CONSOLE}/families/:family/revoke`, (context) => changeOne(context, false))
}

async function showClients(context: Context): Promise<void> {
  await show(context, await loadConsole(context, 'view'))
}

async function show(context: Context, console: Console, refused?: ClientsView['refused']): Promise<void> {
  const { db } = context.deps
  const [clients, entitlements, withheld] = await Promise.all([
    listConsoleClients(db, console),
    listEntitlements(db, console.organisationId),
    listWithheldFamilies(db, console.organisationId),
  ])
  const held = new Set(entitlements.map(({ family }) => family))
  const view = { console, clients, held, withheld, ...(refused && { refused }) }
  sendConsole(
    context,
    console,
    { title: 'Clients', area: 'clients' },
    <ClientsPage context={context} view={view} />,
    refused ? 400 : 200,
  )
}

async function create(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'own')
  const { form, deps } = context
  const { organisationId, env } = console
  const path = `${console.base}/clients`
  const held = new Set((await listEntitlements(deps.db, organisationId)).map(({ family }) => family))
  const families = FAMILIES.filter((family) => held.has(family))
  const scopes = CLIENT_SCOPES.filter((scope) => form.getAll('scope').includes(scope))
  try {
    const input = { organisationId, env, name: field(form, 'name'), families, scopes }
    const { clientId, clientSecret } = await createClient(deps.db, personOf(context, console.session), input)
    setFlash(context, path, { secret: clientSecret, about: clientId, notice: 'The client is created.' })
    redirect(context, path)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await show(context, console, { form, error: `${error.message.replace(/^name must/, 'Must')}.` })
  }
}

async function rotate(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'own')
  const { organisationId } = console
  const clientId = context.params.client ?? ''
  const actor = personOf(context, console.session)
  const secret = await rotateClientSecret(context.deps.db, actor, { organisationId, clientId })
  const path = `${console.base}/clients`
  setFlash(context, path, { secret, about: clientId })
  redirect(context, path)
}

async function switchOne(context: FormContext, isDisabled: boolean): Promise<void> {
  const console = await loadConsole(context, 'own')
  const { organisationId } = console
  const clientId = context.params.client ?? ''
  await switchClient(context.deps.db, personOf(context, console.session), { organisationId, clientId }, isDisabled)
  const path = `${console.base}/clients`
  setFlash(context, path, { notice: isDisabled ? 'The client is disabled.' : 'The client is enabled.' })
  redirect(context, path)
}

async function changeOne(context: FormContext, isGranted: boolean): Promise<void> {
  const console = await loadConsole(context, 'own')
  const family = FAMILIES.find((one) => one === context.params.family)
  if (!family) throw new NotFoundError('There is no such family.')
  const { organisationId } = console
  const actor = personOf(context, console.session)
  await changeFamilies(context.deps.db, actor, { organisationId, families: [family], isGranted })
  const path = `${console.base}/clients`
  setFlash(context, path, {
    notice: `${familyName(family)} ${isGranted ? 'is granted. Create a client to use it.' : 'is revoked.'}`,
  })
  redirect(context, path)
}
