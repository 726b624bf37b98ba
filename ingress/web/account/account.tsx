import { NotFoundError } from '#shared/errors.ts'
import { findReportSettings } from '#shared/monitoring/reports/report-store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { hashPassword, passwordProblem, verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { findSecondFactors, type SecondFactors } from '#shared/tenancy/accounts/second-factor-store.ts'
import { deleteSession, deleteSessions, listSessions } from '#shared/tenancy/accounts/session-store.ts'
import { findUser, listIdentities, updatePassword } from '#shared/tenancy/accounts/store.ts'
import { currentPasswordField, newPasswordField } from '../forms/fields.tsx'
import { ButtonForm, FieldForm } from '../forms/form.tsx'
import { audit } from '../shell/audit.ts'
import { type Context, type FormContext, type Pages, redirect } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { startSession } from '../shell/sessions.ts'
import { signedIn } from '../shell/workspace.ts'
import { Reports, takeReports } from './reports.tsx'
import { Sessions } from './session-list.tsx'
import { throttle } from './throttle.ts'
import { sendAddressConfirmation, You } from './you.tsx'

export function accountPages(pages: Pages): void {
  pages.get('/account', (context) => show(context, {}))
  pages.post('/account/address', async (context) => {
    const problem = await sendAddressConfirmation(context)
    if (problem !== null) return await show(context, { address: problem }, 400)
    redirect(context, '/account')
  })
  pages.post('/account/password', changePassword)
  pages.post('/account/sessions/:session/end', async (context) => {
    const { session } = await signedIn(context)
    const id = Number(context.params.session)
    if (!Number.isSafeInteger(id)) throw new NotFoundError('There is no such session.')
    if (await deleteSession(context.deps.db, session.userId, id)) await audit(context, null, 'session.ended')
    redirect(context, '/account?done=session-ended')
  })
  pages.post('/account/reports', async (context) => {
    const { session } = await signedIn(context)
    const problem = await takeReports(context, session.userId)
    if (problem !== null) return await show(context, { reports: problem }, 400)
    redirect(context, '/account?done=reports-saved')
  })
}

/** Requires the old password, if any, and ends all other sessions. */
async function changePassword(context: FormContext): Promise<void> {
  const { session } = await signedIn(context)
  const { deps, form } = context
  await throttle(context, 'password', session.email)
  const user = await findUser(deps.db, session.userId)
  if (!user) throw new NotFoundError('The account is gone.')
  const isRight = user.passwordHash === null || (await verifyPassword(user.passwordHash, form.get('old') ?? ''))
  const password = form.get('password') ?? ''
  const problem = isRight
    ? passwordProblem(password, { email: user.email, siteName: context.deps.config.siteName })
    : 'That is not the current password.'
  if (problem !== null) return await show(context, { password: problem }, 400)
  const passwordHash = await hashPassword(password)
  await transaction(deps.db, async (tx) => {
    await updatePassword(tx, user.id, passwordHash)
    await deleteSessions(tx, user.id)
    await audit(context, null, 'password.changed', '', tx)
  })
  await startSession({ ...context, session: null }, user.id)
  redirect(context, '/account?done=password-changed')
}

async function show(
  context: Context,
  problems: { address?: string; password?: string; reports?: string },
  status = 200,
): Promise<void> {
  const workspace = await signedIn(context)
  const { session } = workspace
  const { db, config } = context.deps
  const [user, sessions, identities, reports, factors] = await Promise.all([
    findUser(db, session.userId),
    listSessions(db, session.userId),
    listIdentities(db, session.userId),
    findReportSettings(db, session.userId),
    findSecondFactors(db, session.userId),
  ])
  const current = (name: string) => (user?.passwordHash === null ? [] : [currentPasswordField(name)])
  sendPage(
    context,
    { title: 'Account', workspace, area: 'account' },
    <>
      <h1>Account</h1>
      <div class="settings">
        <You context={context} session={session} user={user} problem={problems.address ?? null} />
        <section class="card" aria-labelledby="password-title">
          <h2 id="password-title">Password</h2>
          <FieldForm
            context={context}
            action="/account/password"
            problem={problems.password}
            items={[...current('old'), newPasswordField('New password', 'You will be signed out everywhere else.')]}
            submit="Change password"
          />
        </section>
        <section class="card" aria-labelledby="factors-title">
          <div class="card-head">
            <h2 id="factors-title">Second factor</h2>
            <a class="button" href="/account/second-factor">
              Manage <span class="hidden">second factor</span>
            </a>
          </div>
          <p class="muted">{factorsText(factors)}</p>
        </section>
        <section class="card" aria-labelledby="notifications-title">
          <div class="card-head">
            <h2 id="notifications-title">My notifications</h2>
            <a class="button" href="/account/notifications">
              Manage <span class="hidden">my notifications</span>
            </a>
          </div>
          <p class="muted">Contact methods, notification rules, quiet hours and shift notices.</p>
        </section>
        <Reports context={context} settings={reports} problem={problems.reports ?? null} />
        {config.oidcIssuer !== undefined && (
          <section class="card" aria-labelledby="identities">
            <h2 id="identities">Sign-in with {config.oidcName}</h2>
            {identities.length > 0 ? (
              <ul>
                {identities.map(({ issuer, subject }) => (
                  <li key={`${issuer} ${subject}`} class="breakable">
                    Connected to <code>{subject}</code> at {issuer}
                    <ButtonForm
                      context={context}
                      action="/account/oidc/disconnect"
                      confirm="Disconnect this identity?"
                      label="Disconnect"
                      variant="danger"
                      hidden={{ issuer: issuer, subject: subject }}
                    />
                  </li>
                ))}
              </ul>
            ) : (
              <FieldForm
                context={context}
                action="/account/oidc"
                items={current('password')}
                submit="Connect this account"
              />
            )}
          </section>
        )}
        <Sessions context={context} own={session.id} sessions={sessions} />
      </div>
    </>,
    status,
  )
}

/** `Authenticator app and 2 passkeys.` */
function factorsText({ hasTotp, passkeys }: SecondFactors): string {
  const parts = [
    ...(hasTotp ? ['an authenticator app'] : []),
    ...(passkeys.length > 0 ? [passkeys.length === 1 ? 'one passkey' : `${passkeys.length} passkeys`] : []),
  ]
  return parts.length === 0
    ? 'Off. Add an authenticator app or a passkey to protect your account.'
    : `You have ${parts.join(' and ')}.`
}
