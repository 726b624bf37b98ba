import { NotFoundError, ValidationError } from '#shared/errors.ts'
import { type ConsoleClient, listConsoleClients, listEntitlements } from '#shared/risk/risk-console/store.ts'
import { CLIENT_SCOPES, FAMILIES, type Family } from '#shared/tenancy/oauth/families.ts'
import { changeFamilies, createClient, rotateClientSecret, switchClient } from '#shared/tenancy/operations/clients.ts'
import { listWithheldFamilies } from '#shared/tenancy/organisations/store.ts'
import { microsOfDate } from '#shared/time.ts'
import { ButtonForm, FieldForm } from '../forms/form.tsx'
import { PlainTable } from '../lists/list.tsx'
import { personOf } from '../shell/audit.ts'
import { Ago, SecretOnce } from '../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { Problem } from '../shell/notice.tsx'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from './console.tsx'
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
  const console = await loadConsole(context, 'view')
  const { db } = context.deps
  const [clients, entitlements, withheld] = await Promise.all([
    listConsoleClients(db, console),
    listEntitlements(db, console.organisationId),
    listWithheldFamilies(db, console.organisationId),
  ])
  const held = new Set(entitlements.map(({ family }) => family))
  const { secret, about, problem } = context.flash
  sendConsole(
    context,
    console,
    { title: 'Clients', area: 'clients' },
    <>
      <h1>Clients and entitlements</h1>
      <Problem text={problem} />
      {secret !== undefined && (
        <SecretOnce
          what={
            <>
              The secret of <code>{about}</code>
            </>
          }
          text={secret}
          label="client secret"
        />
      )}
      <Families context={context} console={console} held={held} withheld={withheld} />
      {clients.length === 0 && <p class="empty">No client in this environment yet.</p>}
      {clients.map((client) => (
        <ClientCard key={client.clientId} context={context} console={console} client={client} />
      ))}
      {mayIn(console, 'own') && <NewClientForm context={context} console={console} />}
    </>,
  )
}

function Families(props: {
  context: Context
  console: Console
  held: ReadonlySet<string>
  withheld: readonly string[]
}) {
  const { context, console, held, withheld } = props
  return (
    <section class="card" aria-labelledby="families">
      <h2 id="families">Entitlements</h2>
      <p class="muted">
        A call needs all three: the family here, the scope on the client, the scope in its token. A family that is
        granted counts for clients made afterwards, in both environments.
      </p>
      <PlainTable
        columns={[
          {
            title: 'Family',
            isHeading: true,
            cell: (family) => (
              <>
                {familyName(family)} <small class="mono">{family}</small>
              </>
            ),
          },
          {
            title: 'State',
            cell: (family) => (
              <span class={held.has(family) ? 'pill good' : 'pill'}>
                {held.has(family) ? 'granted' : withheld.includes(family) ? 'revoked by the operator' : 'not granted'}
              </span>
            ),
          },
          {
            title: 'Change',
            cell: (family) =>
              mayIn(console, 'own') &&
              !withheld.includes(family) && (
                <FamilySwitch context={context} console={console} family={family} held={held} />
              ),
          },
        ]}
        rows={FAMILIES}
      />
    </section>
  )
}

function FamilySwitch(props: { context: Context; console: Console; family: Family; held: ReadonlySet<string> }) {
  const { context, console, family, held } = props
  const path = `${console.base}/families/${family}`
  return held.has(family) ? (
    <ButtonForm
      context={context}
      action={`${path}/revoke`}
      confirm={`Take ${family} away from ${console.organisation.organisationName}? Every call of it is refused within seconds, live ones too.`}
      yes="Revoke"
      label="Revoke"
      variant="quiet"
      name={`Revoke ${family}`}
    />
  ) : (
    <ButtonForm context={context} action={`${path}/grant`} label="Grant" variant="quiet" name={`Grant ${family}`} />
  )
}

function ClientCard({ context, console, client }: { context: Context; console: Console; client: ConsoleClient }) {
  const path = `${console.base}/clients/${client.clientId}`
  return (
    <section class="card" aria-label={client.name}>
      <div class="card-head">
        <h2>{client.name}</h2>
        <span class={client.disabledAt ? 'pill bad' : 'pill good'}>{client.disabledAt ? 'disabled' : 'active'}</span>
      </div>
      <dl class="facts">
        <div>
          <dt>Client id</dt>
          <dd class="mono breakable">{client.clientId}</dd>
        </div>
        <div>
          <dt>Secrets</dt>
          <dd class="mono">{client.secretPrefixes.map((prefix) => `${prefix}…`).join(', ') || 'none'}</dd>
        </div>
        <div>
          <dt>Scopes</dt>
          <dd class="breakable">{client.scopes.join(', ') || 'none'}</dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Ago at={microsOfDate(client.createdAt)} now={context.deps.now()} />
          </dd>
        </div>
      </dl>
      {mayIn(console, 'own') && (
        <div class="row foot">
          <ButtonForm
            context={context}
            action={`${path}/rotate`}
            confirm={`Make a new secret for ${client.name}? The newest of the present ones stays good beside it, all others end.`}
            yes="New secret"
            label="New secret"
          />
          {client.isDisabledByOperator ? (
            <span class="muted">The operator disabled it.</span>
          ) : client.disabledAt ? (
            <ButtonForm context={context} action={`${path}/enable`} label="Enable" />
          ) : (
            <ButtonForm
              context={context}
              action={`${path}/disable`}
              confirm={`Disable ${client.name}? Its secrets, keys and tokens stop working within seconds.`}
              yes="Disable"
              label="Disable"
              variant="danger"
            />
          )}
        </div>
      )}
    </section>
  )
}

function NewClientForm({ context, console }: { context: Context; console: Console }) {
  return (
    <section class="card form-wide" aria-labelledby="new-client">
      <h2 id="new-client">New client</h2>
      <p class="muted">It gets the scopes of every family that is granted.</p>
      <FieldForm
        context={context}
        action={`${console.base}/clients`}
        submit="Create client"
        items={[
          { name: 'name', label: 'Name', isRequired: true, maxLength: 100, placeholder: 'Loan system' },
          {
            name: 'scope',
            label: 'Additional scopes',
            kind: 'choices',
            options: CLIENT_SCOPES.map((scope) => ({ value: scope, label: SCOPES[scope], hint: scope })),
          },
        ]}
      />
    </section>
  )
}

const SCOPES: Readonly<Record<(typeof CLIENT_SCOPES)[number], string>> = {
  'usage:read': 'May read the metered usage',
  'webhooks:manage': 'May change webhook endpoints',
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
    setFlash(context, path, { secret: clientSecret, about: clientId })
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    setFlash(context, path, { problem: `No client is made: ${error.message}.` })
  }
  redirect(context, path)
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
  setFlash(context, path, { notice: `${family} is ${isGranted ? 'granted' : 'revoked'}.` })
  redirect(context, path)
}
