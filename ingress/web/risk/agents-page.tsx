import { dayText, words } from '#shared/risk/packs/pdf/figures.ts'
import { keyPrefix } from '#shared/tenancy/agents/agent-key.ts'
import type { ListedAgentCall } from '#shared/tenancy/agents/call-store.ts'
import type { AgentKey } from '#shared/tenancy/agents/key-store.ts'
import { type Micros, microsOfDate, toMillis } from '#shared/time.ts'
import { ButtonForm } from '../forms/form.tsx'
import { EmptyCard } from '../lists/empty-card.tsx'
import { type Column, PageHead, Table } from '../lists/list.tsx'
import { Ago, CodeBlock, Fact, SecretOnce } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import { KeyForm, type KeyFormView } from './agent-key-form.tsx'
import { type Console, mayIn } from './console.tsx'
import { familyName } from './family-names.ts'
import { scopeName } from './scope-names.ts'

export interface AgentsView extends KeyFormView {
  console: Console
  keys: AgentKey[]
  calls: ListedAgentCall[]
  isEntitled: boolean
  mayManage: boolean
  newKey: string | null
}

interface Props {
  context: Context
  view: AgentsView
}

export function AgentsPage({ context, view }: Props) {
  const now = context.deps.now()
  const { keys, newKey, mayManage, isEntitled, console, calls } = view
  const active = keys.filter((key) => stateOf(key, now) === 'active')
  const ended = keys.filter((key) => stateOf(key, now) !== 'active')
  const hasLink = mayManage && active.length > 0
  return (
    <>
      <PageHead title="Agents" actions={hasLink ? [{ href: '#new-key', label: 'New key' }] : []} />
      <p class="muted">
        An agent is an assistant or another program that calls tools of Signalbox over MCP. Its key limits what it may
        do, and every call is recorded.
      </p>
      {newKey !== null && <SecretOnce what="The new key" text={newKey} label="agent key" />}
      {isEntitled ? (
        <HowToConnect url={`${context.deps.config.publicUrl}/mcp`} agentKey={newKey} console={console} />
      ) : (
        <NotEntitled console={console} />
      )}
      {isEntitled && !mayManage && keys.length === 0 && (
        <p class="empty">No agent keys yet. Managers and owners of the organisation can create them.</p>
      )}
      {active.map((key) => (
        <KeyCard key={key.keyId} context={context} view={view} agentKey={key} now={now} />
      ))}
      {mayManage && <KeyForm context={context} action={`${console.base}/agents`} view={view} />}
      {ended.length > 0 && (
        <details class="more">
          <summary>Revoked and expired keys ({ended.length})</summary>
          {ended.map((key) => (
            <KeyCard key={key.keyId} context={context} view={view} agentKey={key} now={now} />
          ))}
        </details>
      )}
      {calls.length > 0 && <h2>Calls</h2>}
      <Table label="Calls" variant="wide-table stacked" columns={callColumns(keys, now)} rows={calls} />
    </>
  )
}

function NotEntitled({ console }: { console: Console }) {
  return (
    <EmptyCard
      title="Agent tools are not granted to this organisation"
      action={mayIn(console, 'own') && { label: 'Grant agent tools', href: `${console.base}/clients#families` }}
    >
      <p>With agent tools, an assistant can read checks, request packs and verify evidence.</p>
      {!mayIn(console, 'own') && <p>An owner of the organisation can grant them.</p>}
    </EmptyCard>
  )
}

/** Shows the configuration with the new key, or with the beginning of a key. */
function HowToConnect(props: { url: string; agentKey: string | null; console: Console }) {
  const { url, agentKey, console } = props
  const key = agentKey ?? `rsk_${console.env === 'SANDBOX' ? 'sandbox' : 'live'}_...`
  const server = { type: 'http', url, headers: { Authorization: `Bearer ${key}` } }
  return (
    <details class="more" open={agentKey !== null}>
      <summary>How to connect an agent</summary>
      <div class="stack">
        <p>Create a key, and add it to the configuration of your MCP client:</p>
        <CodeBlock text={JSON.stringify({ mcpServers: { signalbox: server } }, null, 2)} label="configuration" />
        <p>The agent then lists the tools that its key may call.</p>
      </div>
    </details>
  )
}

function stateOf({ revokedAt, expiresAt }: AgentKey, now: Micros): 'active' | 'revoked' | 'expired' {
  if (revokedAt) return 'revoked'
  return expiresAt.getTime() <= toMillis(now) ? 'expired' : 'active'
}

function KeyCard({ context, view, agentKey, now }: Props & { agentKey: AgentKey; now: Micros }) {
  const { keyId, name, scopes, projects, dailyLimit, budgets, lastUsedAt, calls, expiresAt } = agentKey
  const state = stateOf(agentKey, now)
  const names = projects.map(
    (uuid) => view.projects.find((project) => project.uuid === uuid)?.name ?? 'unknown project',
  )
  const limits = Object.entries(budgets).map(
    ([family, { perDay, perMonth }]) =>
      `${familyName(family)}: ${perDay ?? 'unlimited'} per day, ${perMonth ?? 'unlimited'} per month`,
  )
  return (
    <section class="card" aria-label={name}>
      <div class="card-head">
        <h2>{name}</h2>
        <span class={state === 'active' ? 'pill good' : 'pill bad'}>{state}</span>
      </div>
      <dl class="facts">
        <Fact title="Key">
          <span class="mono breakable">{keyPrefix(agentKey.env, keyId)}…</span>
        </Fact>
        <Fact title="May">
          {scopes.map(scopeName).join(', ')}
          <small class="mono codes">{scopes.join(', ')}</small>
        </Fact>
        {names.length > 0 && <Fact title="Projects">{names.join(', ')}</Fact>}
        {dailyLimit !== null && <Fact title="Calls per day">{`at most ${dailyLimit.toLocaleString('en')}`}</Fact>}
        {limits.length > 0 && <Fact title="Units">{limits.join('; ')}</Fact>}
        <Fact title="Calls">
          {calls.toLocaleString('en')}
          {lastUsedAt ? (
            <>
              , last used <Ago at={microsOfDate(lastUsedAt)} now={now} />
            </>
          ) : (
            ', never used'
          )}
        </Fact>
        <Fact title="Expires">{dayText(expiresAt.toISOString().slice(0, 10))}</Fact>
      </dl>
      {view.mayManage && state === 'active' && (
        <ButtonForm
          context={context}
          action={`${view.console.base}/agents/${keyId}/revoke`}
          confirm={`Revoke the key ${name}? The agent that uses it stops working within five seconds.`}
          yes="Revoke"
          label="Revoke"
          variant="danger"
          name={`Revoke ${name}`}
        />
      )}
    </section>
  )
}

function callColumns(keys: readonly AgentKey[], now: Micros): Column<ListedAgentCall>[] {
  const names = new Map(keys.map(({ keyId, name }) => [keyId, name]))
  return [
    { title: 'Tool', variant: 'mono', cell: ({ tool }) => tool },
    {
      title: 'Key',
      variant: 'breakable',
      isLabelled: true,
      // A client with an access token has no key.
      cell: ({ keyId }) => names.get(keyId) ?? <span class="mono">{keyId}</span>,
    },
    {
      title: 'Outcome',
      cell: ({ code }) => (
        <span class={code === 'OK' ? 'pill good' : 'pill bad'}>{code === 'OK' ? 'succeeded' : words(code)}</span>
      ),
    },
    { title: 'Units', variant: 'figure', isLabelled: true, cell: ({ units }) => units },
    { title: 'When', cell: ({ calledAt }) => <Ago at={microsOfDate(calledAt)} now={now} /> },
  ]
}
