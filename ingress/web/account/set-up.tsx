import type { Knex } from 'knex'
import { NotFoundError } from '#shared/errors.ts'
import { storeNewKey } from '#shared/monitoring/operations/keys.ts'
import { insertProject } from '#shared/monitoring/projects/store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { insertAccountAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { deleteLinks, findLink, useLink } from '#shared/tenancy/accounts/link-store.ts'
import { hashPassword, passwordProblem } from '#shared/tenancy/accounts/password.ts'
import { normalEmail } from '#shared/tenancy/accounts/roles.ts'
import { hasOwner, insertMembership, insertUser, listOwnerless, lockSetUp } from '#shared/tenancy/accounts/store.ts'
import { ensureOrganisation, renameOrganisation } from '#shared/tenancy/organisations/store.ts'
import { type FormField, newPasswordField } from '../forms/fields.tsx'
import { FieldForm } from '../forms/form.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { startSession } from '../shell/sessions.ts'

/** Creates the first account of an installation with the operator's link. */
export function setUpPages(pages: Pages): void {
  pages.get('/set-up/:token', async (context) => {
    await requireLink(context)
    show(context, {})
  })
  pages.post('/set-up/:token', setUp)
}

/** @throws NotFoundError once an owner exists */
async function requireLink(context: Context): Promise<number> {
  const { db, secrets } = context.deps
  const digests = secrets.digests(`set-up:${context.params.token}`)
  const link = (await hasOwner(db)) ? null : await findLink(db, 'set-up', digests)
  if (!link) {
    throw new NotFoundError(
      'This set-up link has been used, is older than a day, or was replaced by a newer one. While no owner exists, “npm run -s admin -- setup-link” prints another.',
    )
  }
  return link.id
}

async function setUp(context: FormContext): Promise<void> {
  const { form, deps } = context
  const linkId = await requireLink(context)
  const [name, organisation, typed] = [field(form, 'name'), field(form, 'organisation'), field(form, 'email')]
  const password = form.get('password') ?? ''
  const email = normalEmail(typed)
  const { siteName } = context.deps.config
  const problem = email === null ? 'That is not an e-mail address.' : passwordProblem(password, { email, siteName })
  if (email === null || problem !== null) return show(context, { name, organisation, email: typed, problem }, 400)

  const passwordHash = await hashPassword(password)
  const userId = await transaction(deps.db, async (tx) => {
    await lockSetUp(tx)
    if ((await hasOwner(tx)) || !(await useLink(tx, linkId))) return null
    await deleteLinks(tx, 'set-up')
    const user = await insertUser(tx, { email, name: name.slice(0, 100), passwordHash })
    if (!user) return null
    await claimUnowned(tx, deps, { userId: user.id, organisationName: organisation.slice(0, 100) })
    for (const action of ['installation.set-up', 'sign-in.succeeded'])
      await insertAccountAudit(tx, { userId: user.id, actor: email, action, address: context.address })
    return user.id
  })
  if (userId === null) throw new NotFoundError('This link was used a moment ago.')
  await startSession(context, userId)
  redirect(context, '/')
}

/**
 * Assigns organisations of the command line to the first user, who may rename a single one. Without any, creates an
 * organisation with a project.
 */
async function claimUnowned(
  tx: Knex.Transaction,
  deps: Pick<Context['deps'], 'secrets'>,
  { userId, organisationName }: { userId: number; organisationName: string },
): Promise<void> {
  const existing = await listOwnerless(tx)
  const [only, another] = existing
  if (only !== undefined && another === undefined && organisationName !== '') {
    await renameOrganisation(tx, only, organisationName)
  }
  for (const organisationId of existing) await insertMembership(tx, { organisationId, userId, role: 'owner' })
  if (existing.length > 0) return
  const { id } = await ensureOrganisation(tx, organisationName || 'My organisation')
  await insertMembership(tx, { organisationId: id, userId, role: 'owner' })
  const project = await insertProject(tx, { organisationId: id, name: 'My project' })
  await storeNewKey(tx, project.id, 'ping', deps)
}

interface State {
  name?: string
  organisation?: string
  email?: string
  problem?: string | null
}

const ITEMS: readonly FormField[] = [
  { name: 'name', label: 'Your name', autocomplete: 'name', maxLength: 100 },
  { name: 'email', label: 'E-mail address', kind: 'email', autocomplete: 'username', isRequired: true },
  newPasswordField('Password', 'Several unrelated words are best.'),
  { name: 'organisation', label: 'Organisation', maxLength: 100, hint: 'The company or team that owns the projects.' },
]

function show(context: Context, state: State, status = 200): void {
  sendPage(
    context,
    { title: 'Set up' },
    <section class="card narrow">
      <h1>Welcome</h1>
      <p>You are the first person here. Choose how you will sign in; everything else can be changed later.</p>
      <FieldForm
        context={context}
        action={`/set-up/${context.params.token}`}
        problem={state.problem}
        items={ITEMS}
        values={{ name: state.name, email: state.email, organisation: state.organisation }}
        submit="Create my account"
        isMain
      />
    </section>,
    status,
  )
}
