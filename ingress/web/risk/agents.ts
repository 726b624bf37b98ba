import { type FieldError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { listEntitlements } from '#shared/risk/risk-console/store.ts'
import { grantableScopes } from '#shared/tenancy/agents/agent-key.ts'
import { listAgentCalls } from '#shared/tenancy/agents/call-store.ts'
import { listAgentKeys } from '#shared/tenancy/agents/key-store.ts'
import { OFFERED_SCOPES, scopesOf } from '#shared/tenancy/oauth/families.ts'
import { createAgentKey } from '#shared/tenancy/operations/create-agent-key.ts'
import { revokeAgentKey } from '#shared/tenancy/operations/revoke-agent-key.ts'
import { toMillis } from '#shared/time.ts'
import { personOf } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { leaveFlash } from '../frame/flash.ts'
import { AgentsPage, type AgentsView } from './agents-page.tsx'
import { CONSOLE, type Console, mayIn, openConsole, sendConsole } from './console.tsx'

const KEYS_SHOWN = 200
const CALLS_SHOWN = 50

/** Keys of agents, their budgets and what they called. */
export function agentPages(pages: Pages): void {
  pages.get(`${CONSOLE}/agents`, async (context) => {
    await show(context, await openConsole(context, 'view'))
  })
  pages.post(`${CONSOLE}/agents`, create)
  pages.post(`${CONSOLE}/agents/:key/revoke`, async (context) => {
    const console = await openConsole(context, 'manage')
    const actor = personOf(context, console.session)
    await transaction(context.deps.db, (tx) => revokeAgentKey(tx, actor, console, context.params.key ?? ''))
    redirect(context, `${console.base}/agents`)
  })
}

/** Makes a key, which the next page shows once. */
async function create(context: FormContext): Promise<void> {
  const console = await openConsole(context, 'manage')
  const { deps, form } = context
  const scopes = await heldScopes(context, console)
  const input = {
    name: field(form, 'name').trim(),
    scopes: ['agents:invoke', ...form.getAll('scope')],
    projects: form.getAll('project'),
    dailyLimit: limitOf(field(form, 'dailyLimit')),
  }
  const wrong = wrongFields(input)
  if (wrong.length > 0) return await show(context, console, { errors: wrong })
  try {
    const maker = { organisationId: console.organisationId, env: console.env, scopes }
    const actor = personOf(context, console.session)
    const { key } = await transaction(deps.db, (tx) => createAgentKey(tx, actor, maker, input, toMillis(deps.now())))
    const path = `${console.base}/agents`
    leaveFlash(context, path, { secret: key })
    redirect(context, path)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await show(context, console, { errors: error.errors })
  }
}

function limitOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

function wrongFields({ name, dailyLimit }: { name: string; dailyLimit: number | null }): FieldError[] {
  const errors: FieldError[] = []
  if (name === '' || name.length > 200 || /\p{C}/u.test(name)) {
    errors.push({ path: 'name', code: 'FORMAT', message: 'name must be a line of 1 to 200 characters' })
  }
  if (dailyLimit !== null && !(Number.isInteger(dailyLimit) && dailyLimit >= 0 && dailyLimit <= 1_000_000_000)) {
    errors.push({ path: 'dailyLimit', code: 'FORMAT', message: 'dailyLimit must be a whole number' })
  }
  return errors
}

/** What the organisation is entitled to: somebody who manages it may give all of that to a key. */
async function heldScopes(context: Context, console: Console): Promise<string[]> {
  const entitlements = await listEntitlements(context.deps.db, console.organisationId)
  const families = entitlements.map(({ family }) => family)
  if (!families.includes('agents')) throw new NotFoundError('This organisation is not entitled to agent tools.')
  return scopesOf(families, ['usage:read']).filter((scope) => OFFERED_SCOPES.includes(scope))
}

async function show(
  context: Context,
  console: Console,
  { errors = [] }: { errors?: readonly FieldError[] } = {},
): Promise<void> {
  const { db } = context.deps
  const entitlements = await listEntitlements(db, console.organisationId)
  const isEntitled = entitlements.some(({ family }) => family === 'agents')
  const [keys, calls, held] = await Promise.all([
    listAgentKeys(db, console, { before: null, limit: KEYS_SHOWN }),
    listAgentCalls(db, {
      organisationId: console.organisationId,
      env: console.env,
      keyId: null,
      before: null,
      limit: CALLS_SHOWN,
    }),
    isEntitled ? heldScopes(context, console) : [],
  ])
  const view: AgentsView = {
    console,
    keys,
    calls,
    scopes: [...grantableScopes(held, console.env)].filter((scope) => scope !== 'agents:invoke').toSorted(),
    projects: console.projects.filter(({ organisationId }) => organisationId === console.organisationId),
    mayManage: mayIn(console, 'manage') && isEntitled,
    newKey: context.flash.secret ?? null,
    errors,
  }
  const status = errors.length > 0 ? 400 : 200
  sendConsole(context, console, { title: 'Agents', tab: 'agents' }, AgentsPage({ context, view }), status)
}
