import { verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { normalEmail } from '#shared/tenancy/accounts/roles.ts'
import { deleteSessions } from '#shared/tenancy/accounts/session-store.ts'
import { findUserByEmail, hasAccounts } from '#shared/tenancy/accounts/store.ts'
import { Form, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import { audit, auditAccount } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { endSession } from '../shell/sessions.ts'
import { signedIn } from '../shell/workspace.ts'
import { safeNext } from './safe-next.ts'
import { PasskeySignIn, signInWithPassword } from './second-step.tsx'
import { forgetThrottle, throttleGuess, tooManyAttempts } from './throttle.ts'

export function signInPages(pages: Pages): void {
  pages.get('/sign-in', async (context) => {
    if (context.session) return redirect(context, safeNext(context.query.get('next')))
    await show(context, {})
  })
  pages.post('/sign-in', signIn)
  pages.post('/sign-out', async (context) => {
    const { session } = context
    if (session) await auditAccount(context, { id: session.userId, email: session.email }, 'sign-out')
    await endSession(context)
  })
  pages.post('/sign-out-everywhere', async (context) => {
    const { session } = await signedIn(context)
    await deleteSessions(context.deps.db, session.userId, session.id)
    await audit(context, null, 'sessions.ended')
    redirect(context, '/account?done=signed-out-everywhere')
  })
}

async function signIn(context: FormContext): Promise<void> {
  const { form, deps } = context
  const typed = field(form, 'email')
  const email = normalEmail(typed) ?? typed.toLowerCase().slice(0, 254)
  const isStrained = await throttleGuess(context, 'sign-in', email)
  const user = await findUserByEmail(deps.db, email)
  // The same work and the same answer whether the account is unknown or the password wrong.
  const isRight = await verifyPassword(user?.passwordHash ?? null, form.get('password') ?? '')
  if (!user || !isRight) {
    if (isStrained) throw tooManyAttempts()
    await show(context, { email: typed, problem: 'Wrong e-mail or password.' }, 401)
    // After the answer, whose time must not tell that there is an account.
    if (user) await auditAccount(context, user, 'sign-in.failed')
    return
  }
  await forgetThrottle(context, 'sign-in', email)
  await signInWithPassword(context, user, safeNext(form.get('next')))
}

async function show(context: Context, state: { email?: string; problem?: string }, status = 200): Promise<void> {
  const { config, db } = context.deps
  const next = context.query.get('next') ?? ''
  const isSetUp = await hasAccounts(db)
  sendPage(
    context,
    { title: 'Sign in' },
    <section class="card narrow">
      <h1>Sign in</h1>
      {isSetUp ? <PasswordForm context={context} state={state} next={next} /> : <NotSetUp />}
      {isSetUp && (await PasskeySignIn({ context, next }))}
      {config.oidcIssuer !== undefined && (
        <Form context={context} action="/sign-in/oidc" class="stack or">
          <input type="hidden" name="next" value={next} />
          <button type="submit">Sign in with {config.oidcName}</button>
        </Form>
      )}
    </section>,
    status,
  )
}

function PasswordForm({
  context,
  state,
  next,
}: {
  context: Context
  state: { email?: string; problem?: string }
  next: string
}) {
  return (
    <>
      <Problem text={state.problem} />
      <Form context={context} action="/sign-in" class="stack">
        <input type="hidden" name="next" value={next} />
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          autocomplete="username"
          value={state.email}
          required
        />
        <TextField label="Password" name="password" type="password" autocomplete="current-password" required />
        <button type="submit" class="primary">
          Sign in
        </button>
      </Form>
      <p class="foot">
        <a href="/reset-password">Forgot the password?</a>
      </p>
    </>
  )
}

/** Nobody has a password yet: a form would only refuse. */
function NotSetUp() {
  return (
    <p class="notice">
      Nobody has an account yet. Open the set-up link that <code>make up</code> printed, or print another with{' '}
      <code>npm run -s admin -- setup-link</code>.
    </p>
  )
}
