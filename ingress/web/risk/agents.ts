import { type FieldError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { listEntitlements } from '#shared/risk/risk-console/store.ts'
import { grantableScopes, SPENT_BY_TOOLS, type SpentFamily } from '#shared/tenancy/agents/agent-key.ts'
import { listAgentCalls } from '#shared/tenancy/agents/call-store.ts'
import { listAgentKeys } from '#shared/tenancy/agents/key-store.ts'
import { OFFERED_SCOPES, scopesOf } from '#shared/tenancy/oauth/families.ts'
import { createAgentKey, revokeAgentKey } from '#shared/tenancy/operations/agent-keys.ts'
import { toMillis } from '#shared/time.ts'
import { personOf } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { countOf, readAccess, wrongFields } from './agent-key-form.tsx'
import { AgentsPage, type AgentsView } from './agents-page.tsx'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from './console.tsx'

const KEYS_SHOWN = 200
const DAY_MS = 86_400_000
const CALLS_SHOWN = 50

export function agentPages(pages: Pages): void {
  pages.get(`${CONSOLE}/agents`, async (context) => {
    await show(context, await loadConsole(context, 'view'))
  })
  pages.post(`${CONSOLE}/agents`, create)
  pages.post(`${CONSOLE}/agents/:key/revoke`, async (context) => {
    const console = await loadConsole(context, 'manage')
    const actor = personOf(context, console.session)
    await transaction(context.deps.db, (tx) => revokeAgentKey(tx, actor, console, context.params.key ?? ''))
    const path = `${console.base}/agents`
    setFlash(context, path, { notice: 'The key is revoked. It stops working within five seconds.' })
    redirect(context, path)
  })
}

/** The next page shows the new key once. */
async function create(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const { deps, form } = context
  const scopes = await heldScopes(context, console)
  const budgetOf = (family: SpentFamily) => ({
    perDay: countOf(form, `${family}.perDay`),
    perMonth: countOf(form, `${family}.perMonth`),
  })
  const days = countOf(form, 'days')
  const now = toMillis(deps.now())
  const budgets = SPENT_BY_TOOLS.map((family) => [family, budgetOf(family)] as const)
  const input = {
    name: field(form, 'name'),
    ...readAccess(form),
    dailyLimit: countOf(form, 'dailyLimit'),
    budgets: Object.fromEntries(budgets.filter(([, { perDay, perMonth }]) => perDay !== null || perMonth !== null)),
    expiresAt: days === null ? undefined : endOf(days, now),
  }
  const wrong = wrongFields(form)
  if (wrong.length > 0) return await show(context, console, { errors: wrong, submitted: form })
  try {
    const maker = { organisationId: console.organisationId, env: console.env, scopes }
    const actor = personOf(context, console.session)
    const { key } = await transaction(deps.db, (tx) => createAgentKey(tx, actor, maker, input, now))
    const path = `${console.base}/agents`
    setFlash(context, path, { secret: key, notice: 'The key is created.' })
    redirect(context, path)
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await show(context, console, { errors: error.errors, submitted: form })
  }
}

/** @param now POSIX milliseconds @returns undefined for an invalid day, which the schema refuses */
function endOf(days: number, now: number): string | undefined {
  const end = new Date(now + days * DAY_MS)
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString()
}

/** A manager may assign all scopes of the organisation to a key. */
async function heldScopes(context: Context, console: Console): Promise<string[]> {
  const entitlements = await listEntitlements(context.deps.db, console.organisationId)
  const families = entitlements.map(({ family }) => family)
  if (!families.includes('agents')) throw new NotFoundError('This organisation is not entitled to agent tools.')
  return scopesOf(families, ['usage:read']).filter((scope) => OFFERED_SCOPES.includes(scope))
}

async function show(
  context: Context,
  console: Console,
  {
    errors = [],
    submitted = new URLSearchParams(),
  }: { errors?: readonly FieldError[]; submitted?: URLSearchParams } = {},
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
    isEntitled,
    mayManage: mayIn(console, 'manage') && isEntitled,
    families: SPENT_BY_TOOLS.filter((spent) => entitlements.some(({ family }) => family === spent)),
    newKey: context.flash.secret ?? null,
    errors,
    submitted,
  }
  const status = errors.length > 0 ? 400 : 200
  sendConsole(context, console, { title: 'Agents', area: 'agents' }, AgentsPage({ context, view }), status)
}
