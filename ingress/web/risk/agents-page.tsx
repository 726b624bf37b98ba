import type { FieldError } from '#shared/errors.ts'
import { keyPrefix, type SpentFamily } from '#shared/tenancy/agents/agent-key.ts'
import type { ListedAgentCall } from '#shared/tenancy/agents/call-store.ts'
import type { AgentKey } from '#shared/tenancy/agents/key-store.ts'
import { type Micros, microsOfDate, toMillis } from '#shared/time.ts'
import { type FormItem, fieldsOf } from '../forms/fields.tsx'
import { ButtonForm, FieldForm } from '../forms/form.tsx'
import { type Column, Table } from '../lists/list.tsx'
import { Ago, Fact, SecretOnce } from '../shell/basics.tsx'
import type { Context } from '../shell/context.ts'
import type { Console } from './console.tsx'
import { familyName } from './family-names.ts'

export interface AgentsView {
  console: Console
  keys: AgentKey[]
  calls: ListedAgentCall[]
  /** scopes that a new key may have */
  scopes: string[]
  projects: { uuid: string; name: string }[]
  mayManage: boolean
  /** families that the organisation is entitled to and that have metered tools */
  families: readonly SpentFamily[]
  newKey: string | null
  errors: readonly FieldError[]
  /** values of an invalid form, shown again; otherwise empty */
  submitted: URLSearchParams
}

interface Props {
  context: Context
  view: AgentsView
}

export function AgentsPage({ context, view }: Props) {
  const now = context.deps.now()
  const { keys, newKey, mayManage } = view
  return (
    <>
      <h1>Agents</h1>
      <p class="muted">
        An assistant or another program calls tools at <code>POST /mcp</code> with an agent key. Scopes, projects, calls
        per day and budgets limit each key. Every call is recorded.
      </p>
      {newKey !== null && <SecretOnce what="The new key" text={newKey} label="agent key" />}
      {keys.length === 0 && <p class="empty">No agent keys yet.</p>}
      {keys.map((key) => (
        <KeyCard key={key.keyId} context={context} view={view} agentKey={key} now={now} />
      ))}
      {mayManage && <NewKey context={context} view={view} />}
      <Table label="Calls" columns={callColumns(now)} rows={view.calls} />
    </>
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
      `${family}: ${perDay ?? 'unlimited'} per day, ${perMonth ?? 'unlimited'} per month`,
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
        <Fact title="Scopes">{scopes.join(', ')}</Fact>
        {names.length > 0 && <Fact title="Projects">{names.join(', ')}</Fact>}
        {dailyLimit !== null && <Fact title="Calls per day">{`at most ${dailyLimit}`}</Fact>}
        {limits.length > 0 && <Fact title="Budgets in metered units">{limits.join('; ')}</Fact>}
        <Fact title="Calls">{String(calls)}</Fact>
        <Fact title="Last used">{lastUsedAt ? <Ago at={microsOfDate(lastUsedAt)} now={now} /> : 'never'}</Fact>
        <Fact title="Expires">{expiresAt.toISOString().slice(0, 10)}</Fact>
      </dl>
      {view.mayManage && state === 'active' && (
        <ButtonForm
          context={context}
          action={`${view.console.base}/agents/${keyId}/revoke`}
          confirm="Revoke this key? The agent that uses it stops working within five seconds."
          label="Revoke"
          variant="danger"
          name={`Revoke ${name}`}
        />
      )}
    </section>
  )
}

function NewKey({ context, view }: Props) {
  const { console, errors, submitted } = view
  const items = keyItems(view)
  const values = Object.fromEntries(fieldsOf(items).map(({ name }) => [name, submitted.getAll(name)]))
  const general = errors.filter(({ path }) => path === 'scopes' || path === 'projects')
  return (
    <section class="card form-wide" aria-labelledby="new-key">
      <h2 id="new-key">New key</h2>
      {general.map(({ message }) => (
        <p class="field-error" role="alert" key={message}>
          {message}
        </p>
      ))}
      <FieldForm
        context={context}
        action={`${console.base}/agents`}
        submit="Create key"
        items={items}
        values={values}
        errors={new Map(errors.map(({ path, message }) => [path, message]))}
      />
    </section>
  )
}

function keyItems({ scopes, projects, families }: AgentsView): FormItem[] {
  const scopeOptions = scopes.map((scope) => ({ value: scope, label: <code>{scope}</code> }))
  const projectOptions = projects.map(({ uuid, name }) => ({ value: uuid, label: name }))
  return [
    { name: 'name', label: 'Name', isRequired: true, maxLength: 200 },
    { name: 'scope', label: 'Scopes', kind: 'choices', options: scopeOptions },
    ...(projects.length > 0
      ? [
          {
            name: 'project',
            label: 'Projects',
            hint: 'Required with a monitoring scope.',
            kind: 'choices',
            options: projectOptions,
          } as const,
        ]
      : []),
    { name: 'dailyLimit', label: 'Calls per day', kind: 'integer', hint: 'Empty: unlimited.' },
    ...families.map(
      (family): FormItem => ({
        legend: `Budget of ${familyName(family)}, in metered units. Empty: unlimited`,
        class: 'pair',
        items: [
          { name: `${family}.perDay`, label: 'Per day', kind: 'integer' },
          { name: `${family}.perMonth`, label: 'Per month', kind: 'integer' },
        ],
      }),
    ),
    { name: 'days', label: 'Valid for (days)', kind: 'integer', hint: 'Empty: 365. At most 1,095.' },
  ]
}

const callColumns = (now: Micros): Column<ListedAgentCall>[] => [
  { title: 'Tool', cell: ({ tool }) => tool },
  { title: 'Key', variant: 'mono', cell: ({ keyId }) => keyId },
  {
    title: 'Outcome',
    cell: ({ code }) => (
      <span class={code === 'OK' ? 'pill good' : 'pill bad'}>
        {code === 'OK' ? 'succeeded' : code.toLowerCase().replaceAll('_', ' ')}
      </span>
    ),
  },
  { title: 'Units', variant: 'figure', cell: ({ units }) => units },
  { title: 'When', cell: ({ calledAt }) => <Ago at={microsOfDate(calledAt)} now={now} /> },
]
