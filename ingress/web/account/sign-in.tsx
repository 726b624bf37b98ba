import { verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { normalEmail } from '#shared/tenancy/accounts/roles.ts'
import { deleteSessions } from '#shared/tenancy/accounts/session-store.ts'
import { findUserByEmail, hasAccounts } from '#shared/tenancy/accounts/store.ts'
import type { FormField } from '../forms/fields.tsx'
import { ButtonForm, FieldForm } from '../forms/form.tsx'
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
  // Does the same work for an unknown account, so that response and time reveal nothing.
  const isRight = await verifyPassword(user?.passwordHash ?? null, form.get('password') ?? '')
  if (!user || !isRight) {
    if (isStrained) throw tooManyAttempts()
    await show(context, { email: typed, problem: 'Wrong e-mail or password.' }, 401)
    // Runs after the response, whose duration must not reveal that an account exists.
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
        <ButtonForm
          context={context}
          action="/sign-in/oidc"
          class="stack or"
          label={`Sign in with ${config.oidcName}`}
          hidden={{ next: next }}
        />
      )}
    </section>,
    status,
  )
}

const EMAIL: FormField = {
  name: 'email',
  label: 'E-mail address',
  kind: 'email',
  autocomplete: 'username',
  isRequired: true,
}

const PASSWORD: FormField = {
  name: 'password',
  label: 'Password',
  kind: 'password',
  autocomplete: 'current-password',
  isRequired: true,
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
      <FieldForm
        context={context}
        action="/sign-in"
        problem={state.problem}
        hidden={{ next }}
        items={[EMAIL, PASSWORD]}
        values={{ email: state.email }}
        submit="Sign in"
        isMain
      />
      <p class="foot">
        <a href="/reset-password">Forgot the password?</a>
      </p>
      <p class="muted">
        Received an evidence pack? <a href="/verify">Verify it</a> without an account.
      </p>
    </>
  )
}

/** Shown before the first account exists. */
function NotSetUp() {
  return (
    <p class="notice">
      No account exists yet. Open the set-up link that <code>make up</code> printed, or print another with{' '}
      <code>npm run -s admin -- setup-link</code>.
    </p>
  )
}
