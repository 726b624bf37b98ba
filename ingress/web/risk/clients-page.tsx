import type { ConsoleClient } from '#shared/risk/risk-console/store.ts'
import { CLIENT_SCOPES, FAMILIES, type Family } from '#shared/tenancy/oauth/families.ts'
import { microsOfDate } from '#shared/time.ts'
import { ButtonForm, FieldForm } from '../forms/form.tsx'
import { PageHead, PlainTable } from '../lists/list.tsx'
import { Ago, CodeBlock, Fact, SecretOnce } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import { type Console, mayIn } from './console.tsx'
import { familyName } from './family-names.ts'
import { scopeName } from './scope-names.ts'

export interface ClientsView {
  console: Console
  clients: readonly ConsoleClient[]
  /** granted families */
  held: ReadonlySet<string>
  /** families that the operator revoked */
  withheld: readonly string[]
  /** an invalid form, shown again */
  refused?: { form: URLSearchParams; error: string }
}

interface Props {
  context: Context
  view: ClientsView
}

export function ClientsPage({ context, view }: Props) {
  const { console, clients } = view
  const { secret, about } = context.flash
  const isOwner = mayIn(console, 'own')
  const where = console.env === 'SANDBOX' ? 'the sandbox' : 'production'
  const hasLink = isOwner && clients.length > 0
  return (
    <>
      <PageHead title="Clients" actions={hasLink ? [{ href: '#new-client', label: 'New client' }] : []} />
      <p class="muted">
        A client is a program that calls the risk API. It exchanges its id and secret for an access token.
      </p>
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
      <HowToConnect url={context.deps.config.publicUrl} clientId={about} secret={secret} />
      {clients.length === 0 && !isOwner && (
        <p class="empty">No clients in {where} yet. An owner of the organisation can create one.</p>
      )}
      {clients.map((client) => (
        <ClientCard key={client.clientId} context={context} console={console} client={client} />
      ))}
      {isOwner && <NewClientForm context={context} view={view} />}
      <Families context={context} view={view} />
    </>
  )
}

/** Shows the command with the new client, or with placeholders. */
function HowToConnect(props: { url: string; clientId: string | undefined; secret: string | undefined }) {
  const { url, clientId = 'CLIENT_ID', secret } = props
  const command = [
    `curl ${url}/v1/oauth/token`,
    '-d grant_type=client_credentials',
    `-d client_id=${clientId}`,
    `-d client_secret=${secret ?? 'CLIENT_SECRET'}`,
  ].join(' \\\n  ')
  return (
    <details class="more" open={secret !== undefined}>
      <summary>How to get an access token</summary>
      <div class="stack">
        <CodeBlock text={command} label="command" />
        <p>
          The answer has an <code>access_token</code> for 15 minutes. Send it with each call, in the header{' '}
          <code>Authorization: Bearer</code>. The <a href="/docs">API reference</a> lists the calls.
        </p>
      </div>
    </details>
  )
}

function ClientCard({ context, console, client }: { context: Context; console: Console; client: ConsoleClient }) {
  return (
    <section class="card" aria-label={client.name}>
      <div class="card-head">
        <h2>{client.name}</h2>
        <span class={client.disabledAt ? 'pill bad' : 'pill good'}>{client.disabledAt ? 'disabled' : 'active'}</span>
      </div>
      <dl class="facts">
        <Fact title="Client id">
          <span class="mono">{client.clientId}</span>
        </Fact>
        <Fact title="Secrets">
          <span class="mono">{client.secretPrefixes.map((prefix) => `${prefix}…`).join(', ') || 'none'}</span>
        </Fact>
        <Fact title="Created">
          <Ago at={microsOfDate(client.createdAt)} now={context.deps.now()} />
        </Fact>
        <Fact title="May">
          <Scopes scopes={client.scopes} />
        </Fact>
      </dl>
      {mayIn(console, 'own') && <ClientActions context={context} console={console} client={client} />}
    </section>
  )
}

function Scopes({ scopes }: { scopes: readonly string[] }) {
  if (scopes.length === 0) return <>call no operation: it has no scopes</>
  return (
    <details>
      <summary>
        {scopes.length} {scopes.length === 1 ? 'scope' : 'scopes'}
      </summary>
      <ul class="bare">
        {scopes.map((scope) => (
          <li key={scope}>
            {scopeName(scope)} <small class="mono">{scope}</small>
          </li>
        ))}
      </ul>
    </details>
  )
}

function ClientActions({ context, console, client }: { context: Context; console: Console; client: ConsoleClient }) {
  const path = `${console.base}/clients/${client.clientId}`
  return (
    <div class="row foot">
      <ButtonForm
        context={context}
        action={`${path}/rotate`}
        confirm={`Create a new secret for ${client.name}? The newest existing secret stays valid beside it. Older ones stop working.`}
        yes="New secret"
        label="New secret"
      />
      {client.isDisabledByOperator ? (
        <span class="muted">Disabled by the operator.</span>
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
  )
}

function NewClientForm({ context, view: { console, held, refused } }: Props) {
  return (
    <section class="card form-wide" id="new-client" aria-labelledby="new-client-title">
      <h2 id="new-client-title">New client</h2>
      <p class="muted">
        {held.size === 0 ? 'First grant at least one family of calls' : 'It may use the families that are granted'}{' '}
        under <a href="#families">What clients may use</a>.
      </p>
      <FieldForm
        context={context}
        action={`${console.base}/clients`}
        submit="Create client"
        isMain
        values={refused && { name: refused.form.get('name') ?? '', scope: refused.form.getAll('scope') }}
        errors={refused && new Map([['name', refused.error]])}
        items={[
          { name: 'name', label: 'Name', isRequired: true, maxLength: 100, placeholder: 'Loan system' },
          {
            name: 'scope',
            label: 'It may also',
            kind: 'choices',
            options: CLIENT_SCOPES.map((scope) => ({ value: scope, label: scopeName(scope), hint: scope })),
          },
        ]}
      />
    </section>
  )
}

function Families({ context, view }: Props) {
  const { console, held, withheld } = view
  const isOwner = mayIn(console, 'own')
  return (
    <section class="card" aria-labelledby="families">
      <h2 id="families">What clients may use</h2>
      <p class="muted">
        Calls of the API are grouped in families, granted for the whole organisation in both environments. A newly
        granted family applies to clients that you create afterwards.{!isOwner && ' Owners grant and revoke families.'}
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
            isTitleHidden: true,
            cell: (family) =>
              isOwner &&
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
  const name = familyName(family)
  return held.has(family) ? (
    <ButtonForm
      context={context}
      action={`${path}/revoke`}
      confirm={`Revoke ${name} for ${console.organisation.organisationName}? Its calls are refused within seconds, in production too.`}
      yes="Revoke"
      label="Revoke"
      variant="quiet"
      name={`Revoke ${name}`}
    />
  ) : (
    <ButtonForm context={context} action={`${path}/grant`} label="Grant" name={`Grant ${name}`} />
  )
}
