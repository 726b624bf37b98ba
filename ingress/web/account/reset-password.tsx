import { NotFoundError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { deleteLinks, findLink, insertLink, useLink } from '#shared/tenancy/accounts/link-store.ts'
import { hashPassword, passwordProblem } from '#shared/tenancy/accounts/password.ts'
import { normalEmail } from '#shared/tenancy/accounts/roles.ts'
import { deleteUnconfirmedFactors } from '#shared/tenancy/accounts/second-factor-store.ts'
import { deleteSessions } from '#shared/tenancy/accounts/session-store.ts'
import {
  deleteIdentities,
  findUser,
  findUserByEmail,
  type User,
  updatePassword,
  verifyUserEmail,
} from '#shared/tenancy/accounts/store.ts'
import { queueLinkMail } from '#shared/tenancy/operations/link-mails.ts'
import type { IngressDeps } from '../../deps.ts'
import { newPasswordField } from '../forms/fields.tsx'
import { FieldForm } from '../forms/form.tsx'
import { type Context, type FormContext, field, type Pages } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { newToken } from '../shell/sessions.ts'
import { signInWithPassword } from './second-step.tsx'
import { throttle } from './throttle.ts'

export function resetPages(pages: Pages): void {
  pages.get('/reset-password', (context) => showRequest(context))
  pages.post('/reset-password', requestReset)
  pages.get('/reset-password/:token', async (context) => {
    await openLink(context)
    showChoice(context, null)
  })
  pages.post('/reset-password/:token', resetPassword)
}

/** The response does not reveal if the account exists. */
async function requestReset(context: FormContext): Promise<void> {
  const { deps } = context
  const email = normalEmail(field(context.form, 'email'))
  await throttle(context, 'reset', email ?? '')
  sendPage(
    context,
    { title: 'Mail sent' },
    <section class="card narrow">
      <h1>{deps.config.smtpUrl === undefined ? 'No mail is sent here' : 'Check your inbox'}</h1>
      {deps.config.smtpUrl === undefined ? (
        <p class="notice">
          This installation sends no mail (SMTP_URL is not set), so no link is on its way. Its operator prints one with{' '}
          <code>admin user reset-password</code>.
        </p>
      ) : (
        <p>
          If that address has an account, a link to choose a new password is on its way. It works once, for an hour.
        </p>
      )}
      <p>
        <a href="/sign-in">Back to sign in</a>
      </p>
    </section>,
  )
  // Runs after the response, whose duration must not reveal that an account exists.
  if (email === null) return
  void sendLink(deps, email).catch((error: unknown) => deps.log.error(describeError(error), 'web.reset-link-not-made'))
}

/** Creates the link and its mail; does nothing for an address without an account. */
async function sendLink(deps: IngressDeps, email: string): Promise<void> {
  const user = await findUserByEmail(deps.db, email)
  if (!user) return
  const token = newToken()
  await deps.outbox.run(async (tx, enqueue) => {
    await deleteLinks(tx, 'reset-password', user.id)
    await insertLink(tx, {
      purpose: 'reset-password',
      digest: deps.secrets.digest(`reset-password:${token}`),
      userId: user.id,
    })
    await queueLinkMail(tx, enqueue, deps, {
      to: user.email,
      subject: `Reset your password for ${deps.config.siteName}`,
      lead: 'A new password was requested for your account. The link is valid for one hour.',
      action: 'Choose a new password',
      path: `/reset-password/${token}`,
      foot: 'If you did not request this, ignore this mail. Your password has not changed.',
    })
  })
}

async function openLink(context: Context): Promise<{ linkId: number; user: User }> {
  const { db, secrets } = context.deps
  const link = await findLink(db, 'reset-password', secrets.digests(`reset-password:${context.params.token}`))
  const user = link?.userId ? await findUser(db, link.userId) : null
  if (!link || !user) throw new NotFoundError('This link has been used or is older than an hour. Ask for another one.')
  return { linkId: link.id, user }
}

async function resetPassword(context: FormContext): Promise<void> {
  const { deps, form } = context
  const { linkId, user } = await openLink(context)
  const password = form.get('password') ?? ''
  const problem = passwordProblem(password, { email: user.email, siteName: context.deps.config.siteName })
  if (problem !== null) return showChoice(context, problem, 400)
  const passwordHash = await hashPassword(password)
  await transaction(deps.db, async (tx) => {
    if (!(await useLink(tx, linkId))) throw new NotFoundError('This link was used a moment ago.')
    await updatePassword(tx, user.id, passwordHash)
    await verifyUserEmail(tx, user.id)
    await deleteIdentities(tx, user.id)
    await deleteSessions(tx, user.id)
    const entry = { organisationId: null, userId: user.id, actor: user.email, address: context.address }
    await insertAudit(tx, { ...entry, action: 'password.reset', target: '' })
    if ((await deleteUnconfirmedFactors(tx, user.id)) > 0) {
      await insertAudit(tx, { ...entry, action: 'second-factor.removed', target: 'not confirmed by mail' })
    }
  })
  const changed = await findUser(deps.db, user.id)
  if (!changed) throw new NotFoundError('The account is gone.')
  await signInWithPassword({ ...context, session: null }, changed, '/account?done=password-reset')
}

function showRequest(context: Context): void {
  sendPage(
    context,
    { title: 'Forgot the password' },
    <section class="card narrow">
      <h1>Forgot the password?</h1>
      <p>Enter the e-mail address of your account. A link to choose a new password is sent there.</p>
      <FieldForm
        context={context}
        action="/reset-password"
        items={[{ name: 'email', label: 'E-mail address', kind: 'email', autocomplete: 'username', isRequired: true }]}
        submit="Send the link"
        isMain
      />
      <p class="foot">
        <a href="/sign-in">Back to sign in</a>
      </p>
    </section>,
  )
}

function showChoice(context: Context, problem: string | null, status = 200): void {
  sendPage(
    context,
    { title: 'New password' },
    <section class="card narrow">
      <h1>Choose a new password</h1>
      <p>You will be signed out everywhere else. Second factors that you did not confirm by mail are removed.</p>
      <FieldForm
        context={context}
        action={`/reset-password/${context.params.token}`}
        problem={problem}
        items={[newPasswordField('New password')]}
        submit="Change the password"
        isMain
      />
    </section>,
    status,
  )
}
