import { NotFoundError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { hashPassword, passwordProblem, verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { deleteSessions, listSessions } from '#shared/tenancy/accounts/session-store.ts'
import { findUser, listIdentities, updatePassword, updateUserName } from '#shared/tenancy/accounts/store.ts'
import { microsOfDate } from '#shared/time.ts'
import { Form, NewPasswordField, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import { Ago } from '../components/time.tsx'
import { audit } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { startSession } from '../frame/sessions.ts'
import { signedIn } from '../frame/workspace.ts'
import { throttle } from './throttle.ts'

export function accountPages(pages: Pages): void {
  pages.get('/account', (context) => show(context, null))
  pages.post('/account/name', async (context) => {
    const { session } = await signedIn(context)
    await updateUserName(context.deps.db, session.userId, field(context.form, 'name').slice(0, 100))
    redirect(context, '/account?done=name-changed')
  })
  pages.post('/account/password', changePassword)
}

/** Takes the old password where there is one, and signs out everywhere else. */
async function changePassword(context: FormContext): Promise<void> {
  const { session } = await signedIn(context)
  const { deps, form } = context
  await throttle(context, 'password', session.email)
  const user = await findUser(deps.db, session.userId)
  if (!user) throw new NotFoundError('The account is gone.')
  const isRight = user.passwordHash === null || (await verifyPassword(user.passwordHash, form.get('old') ?? ''))
  const password = form.get('password') ?? ''
  const problem = isRight ? passwordProblem(password, user.email) : 'That is not the present password.'
  if (problem !== null) return await show(context, problem, 400)
  const passwordHash = await hashPassword(password)
  await transaction(deps.db, async (tx) => {
    await updatePassword(tx, user.id, passwordHash)
    await deleteSessions(tx, user.id)
    await audit(context, null, 'password.changed', '', tx)
  })
  await startSession({ ...context, session: null }, user.id)
  redirect(context, '/account?done=password-changed')
}

async function show(context: Context, problem: string | null, status = 200): Promise<void> {
  const workspace = await signedIn(context)
  const { session } = workspace
  const { db, config } = context.deps
  const [user, sessions, identities] = await Promise.all([
    findUser(db, session.userId),
    listSessions(db, session.userId),
    listIdentities(db, session.userId),
  ])
  sendPage(
    context,
    { title: 'Account', workspace, area: 'account' },
    <>
      <h1>Account</h1>
      <div class="settings">
        <section class="card" aria-labelledby="you">
          <h2 id="you">You</h2>
          <p class="muted">{session.email}</p>
          {user?.isEmailVerified === false && (
            <p class="notice">
              Nobody has shown yet that mails to this address reach you. <a href="/reset-password">Ask for a mail</a>{' '}
              and choose a password by its link.
            </p>
          )}
          <Form context={context} action="/account/name" class="inline-fields">
            <TextField label="Name" name="name" value={session.name} autocomplete="name" maxLength={100} />
            <button type="submit">Save</button>
          </Form>
        </section>
        <section class="card" aria-labelledby="password-title">
          <h2 id="password-title">Password</h2>
          <Problem text={problem} />
          <Form context={context} action="/account/password" class="stack">
            {user?.passwordHash !== null && (
              <TextField label="Current password" name="old" type="password" autocomplete="current-password" required />
            )}
            <NewPasswordField label="New password" hint="You will be signed out everywhere else." />
            <div>
              <button type="submit">Change password</button>
            </div>
          </Form>
        </section>
        {config.oidcIssuer !== undefined && (
          <section class="card" aria-labelledby="identities">
            <h2 id="identities">Sign-in by {new URL(config.oidcIssuer).host}</h2>
            {identities.length > 0 ? (
              <ul>
                {identities.map(({ issuer, subject }) => (
                  <li key={`${issuer} ${subject}`} class="breakable">
                    Connected to <code>{subject}</code> at {issuer}
                    <Form context={context} action="/account/oidc/disconnect" confirm="Disconnect this identity?">
                      <input type="hidden" name="issuer" value={issuer} />
                      <input type="hidden" name="subject" value={subject} />
                      <button type="submit" class="danger">
                        Disconnect
                      </button>
                    </Form>
                  </li>
                ))}
              </ul>
            ) : (
              <Form context={context} action="/account/oidc" class="stack">
                {user?.passwordHash !== null && (
                  <TextField
                    label="Present password"
                    name="password"
                    type="password"
                    autocomplete="current-password"
                    required
                  />
                )}
                <button type="submit">Connect this account</button>
              </Form>
            )}
          </section>
        )}
        <Sessions context={context} own={session.id} sessions={sessions} />
      </div>
    </>,
    status,
  )
}

function Sessions(props: { context: Context; own: number; sessions: Awaited<ReturnType<typeof listSessions>> }) {
  const { context, own, sessions } = props
  const now = context.deps.now()
  return (
    <section class="card" aria-labelledby="sessions">
      <div class="card-head">
        <h2 id="sessions">Where you are signed in</h2>
        <Form context={context} action="/sign-out-everywhere">
          <button type="submit">Sign out everywhere else</button>
        </Form>
      </div>
      <ul class="bare">
        {sessions.map((one) => (
          <li key={one.id}>
            <span class="breakable">{one.agent || 'unknown browser'}</span>{' '}
            {one.id === own && <span class="pill good">this one</span>}
            <br />
            <small>
              {one.address}, last used <Ago at={microsOfDate(one.seenAt)} now={now} />
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}
