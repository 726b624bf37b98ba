import { ConflictError, NotFoundError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { findLink, type OneTimeLink, useLink } from '#shared/tenancy/accounts/link-store.ts'
import { hashPassword, passwordProblem } from '#shared/tenancy/accounts/password.ts'
import { type Role, roleMeanings } from '#shared/tenancy/accounts/roles.ts'
import {
  findUserByEmail,
  insertMembership,
  insertUser,
  listMemberships,
  verifyUserEmail,
} from '#shared/tenancy/accounts/store.ts'
import { newPasswordField } from '../forms/fields.tsx'
import { ButtonForm, FieldForm, Form } from '../forms/form.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { Problem } from '../shell/notice.tsx'
import { startSession } from '../shell/sessions.ts'

/** Accepts an invitation with a new account, or with that of the session. */
export function invitationPages(pages: Pages): void {
  pages.get('/invitations/:token', async (context) => await show(context, {}))
  pages.post('/invitations/:token', accept)
}

type Invitation = OneTimeLink & { organisationId: number; role: Role }

/** @throws NotFoundError with the same message for unknown, used, withdrawn and expired links */
async function requireInvitation(context: Context): Promise<Invitation> {
  const { db, secrets } = context.deps
  const link = await findLink(db, 'invitation', secrets.digests(`invitation:${context.params.token}`))
  if (!link || link.organisationId === null || link.role === '') {
    throw new NotFoundError('This invitation has been used, withdrawn, or is older than a week. Ask for another one.')
  }
  return { ...link, organisationId: link.organisationId, role: link.role }
}

async function accept(context: FormContext): Promise<void> {
  const { deps, form, session } = context
  const invitation = await requireInvitation(context)
  if (session) {
    await join(context, invitation, { id: session.userId, email: session.email })
    return redirect(context, '/projects')
  }
  if (await findUserByEmail(deps.db, invitation.email)) {
    return redirect(context, `/sign-in?next=${encodeURIComponent(context.request.path)}`)
  }
  const name = field(form, 'name').slice(0, 100)
  const password = form.get('password') ?? ''
  const problem = passwordProblem(password, { email: invitation.email, siteName: deps.config.siteName })
  if (problem !== null) return await show(context, { name, problem }, 400)
  const passwordHash = await hashPassword(password)
  const { email, isMailed } = invitation
  const userId = await join(context, invitation, { email, name, passwordHash, isEmailVerified: isMailed })
  await startSession(context, userId)
  redirect(context, '/projects')
}

/** Uses up the link and adds the member, with a new account if needed. */
async function join(
  context: Context,
  invitation: Invitation,
  person: { id: number; email: string } | Parameters<typeof insertUser>[1],
): Promise<number> {
  return await transaction(context.deps.db, async (tx) => {
    if (!(await useLink(tx, invitation.id))) throw new NotFoundError('This invitation was used a moment ago.')
    const user = 'id' in person ? person : await insertUser(tx, person)
    if (!user) throw new ConflictError('That address has an account by now: sign in, then open the link again.')
    if (invitation.isMailed && person.email === invitation.email) await verifyUserEmail(tx, user.id)
    const { organisationId, role } = invitation
    // Thrown within the transaction, so that the link remains valid for its recipient.
    if (!(await insertMembership(tx, { organisationId, userId: user.id, role }))) {
      throw new ConflictError(`You belong to ${invitation.organisationName} already, and nothing has changed.`)
    }
    await insertAudit(tx, {
      organisationId: invitation.organisationId,
      userId: user.id,
      actor: person.email,
      action: 'invitation.accepted',
      target: invitation.role,
      address: context.address,
    })
    return user.id
  })
}

async function show(context: Context, state: { name?: string; problem?: string }, status = 200): Promise<void> {
  const invitation = await requireInvitation(context)
  const { session } = context
  const { config } = context.deps
  const memberships = session ? await listMemberships(context.deps.db, session.userId) : []
  const belongs = memberships.some(({ organisationId }) => organisationId === invitation.organisationId)
  const isKnown = !session && (await findUserByEmail(context.deps.db, invitation.email)) !== null
  const action = `/invitations/${context.params.token}`
  sendPage(
    context,
    { title: 'Invitation' },
    <section class="card narrow">
      <h1>Join {invitation.organisationName}</h1>
      <p>
        You are invited as <b>{invitation.role}</b>: {roleMeanings[invitation.role]}.
      </p>
      <Problem text={state.problem} />
      {session && belongs ? (
        <p>
          You are signed in as <b>{session.email}</b>, and belong to it already. The invited person must open this link
          in their own browser. <a href="/projects">Projects</a>
        </p>
      ) : session ? (
        <Form context={context} action={action} class="stack">
          <p>
            You are signed in as <b>{session.email}</b>.
          </p>
          <button type="submit" class="primary">
            Join with this account
          </button>
        </Form>
      ) : isKnown ? (
        <p>
          <a class="button primary" href={`/sign-in?next=${encodeURIComponent(action)}`}>
            Sign in to join
          </a>
        </p>
      ) : (
        <FieldForm
          context={context}
          action={action}
          intro={
            <p>
              Your account will be <b>{invitation.email}</b>.
            </p>
          }
          items={[
            { name: 'name', label: 'Your name', autocomplete: 'name', value: state.name, maxLength: 100 },
            newPasswordField('Password'),
          ]}
          submit="Create the account and join"
          isMain
        />
      )}
      {!session && config.oidcIssuer !== undefined && (
        <ButtonForm
          context={context}
          action="/sign-in/oidc"
          class="stack or"
          label={`Join with ${config.oidcName}`}
          hidden={{ next: action }}
        />
      )}
    </section>,
    status,
  )
}
