import { ForbiddenError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { passkeyNamed, requestOptions } from '#shared/tenancy/accounts/passkey.ts'
import {
  findPasskey,
  findSecondFactors,
  hasSecondFactor,
  notePasskeyUse,
  useChallenge,
} from '#shared/tenancy/accounts/second-factor-store.ts'
import { findUser, type User } from '#shared/tenancy/accounts/store.ts'
import { useSecondFactor } from '#shared/tenancy/operations/second-factor.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { FieldForm } from '../forms/form.tsx'
import { auditAccount } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { sendPage } from '../shell/layout.tsx'
import { Problem } from '../shell/notice.tsx'
import { readCookie, setCookie, startSession } from '../shell/sessions.ts'
import { openChallenge, PasskeyForm, sealChallenge, siteOf } from './passkey-form.tsx'
import { safeNext } from './safe-next.ts'
import { forgetThrottle, throttle } from './throttle.ts'

/** Maximum time between password and second factor. */
const STEP_SECONDS = 600

/** State after the password; encrypted in a cookie. */
interface HalfSignedIn {
  userId: number
  next: string
  at: Micros
  /** digest of the password's hash: a change of the password ends the sign-in */
  password: string
}

export function secondStepPages(pages: Pages): void {
  pages.get('/sign-in/second-step', async (context) => {
    const half = await readHalf(context)
    if (!half) return redirect(context, '/sign-in')
    await show(context, half.user, null)
  })
  pages.post('/sign-in/second-step', takeCode)
  pages.post('/sign-in/passkey', takePasskey)
}

/** Continues after the password was verified or set: with the second factor, if the user has one, or the session. */
export async function signInWithPassword(context: Context, user: User, next: string): Promise<void> {
  const { db, config, secrets, now } = context.deps
  if (!(await hasSecondFactor(db, user.id))) return await finish(context, user, next)
  const half: HalfSignedIn = { userId: user.id, next, at: now(), password: passwordDigest(context, user) }
  setCookie(context.response, config, 'second-step', secrets.seal('second-step', JSON.stringify(half)), STEP_SECONDS)
  redirect(context, '/sign-in/second-step')
}

/** Renders nothing if the installation does not support passkeys. */
export async function PasskeySignIn({ context, next }: { context: Context; next: string }) {
  const site = siteOf(context)
  if (site === null) return null
  const { challenge, sealed } = sealChallenge(context, null)
  return (
    <PasskeyForm
      context={context}
      action="/sign-in/passkey"
      kind="get"
      options={requestOptions(site, challenge)}
      sealed={sealed}
      class="stack or"
    >
      <input type="hidden" name="next" value={next} />
      <button type="submit">Use a passkey</button>
    </PasskeyForm>
  )
}

async function takeCode(context: FormContext): Promise<void> {
  const { deps, form } = context
  const half = await readHalf(context)
  if (!half) return redirect(context, '/sign-in')
  const { user, next } = half
  // Others cannot use up the user's attempts, because the password was verified before.
  await throttle(context, 'second-factor', user.email)
  const taken = await transaction(deps.db, (tx) => useSecondFactor(tx, user.id, field(form, 'code'), deps.now(), deps))
  if (taken === null) {
    await show(context, user, 'That code is not right, or was used already.', 401)
    return await auditAccount(context, user, 'sign-in.failed')
  }
  await forgetThrottle(context, 'second-factor', user.email)
  if (taken === 'recovery-code') await auditAccount(context, user, 'recovery-code.used')
  await finish(context, user, next)
}

/** A passkey is sufficient to sign in, because its device requires a PIN or a fingerprint. */
async function takePasskey(context: FormContext): Promise<void> {
  const { deps, form } = context
  const { db, secrets } = deps
  const answer = form.get('answer') ?? ''
  const credentialId = passkeyNamed(answer) ?? ''
  await throttle(context, 'passkey', credentialId)
  const site = siteOf(context)
  const passkey = await findPasskey(db, credentialId)
  const challenge = openChallenge(context, null)
  const canVerify = site && passkey && challenge
  const counter = canVerify ? await deps.threads.run('verifyPasskeyAnswer', { site, challenge, answer, passkey }) : null
  const user = passkey && (await findUser(db, passkey.userId))
  if (!user || challenge === null || counter === null) throw new ForbiddenError(PASSKEY_REFUSED)
  await transaction(db, async (tx) => {
    if (!(await useChallenge(tx, secrets.digest(`challenge:${challenge}`)))) throw new ForbiddenError(PASSKEY_REFUSED)
    await notePasskeyUse(tx, passkey.credentialId, counter)
  })
  await forgetThrottle(context, 'passkey', credentialId)
  await finish(context, user, safeNext(form.get('next')))
}

const PASSKEY_REFUSED =
  'This passkey is unknown here, or the page was open for too long. Go back to sign in and try again.'

async function finish(context: Context, user: User, next: string): Promise<void> {
  setCookie(context.response, context.deps.config, 'second-step', '', 0)
  await startSession(context, user.id)
  await auditAccount(context, user, 'sign-in.succeeded')
  redirect(context, next)
}

async function readHalf(context: Context): Promise<{ user: User; next: string } | null> {
  const { request, deps } = context
  try {
    const sealed = readCookie(request, deps.config, 'second-step')
    const half: HalfSignedIn = JSON.parse(deps.secrets.open('second-step', sealed))
    if (deps.now() - half.at > microsOfSeconds(STEP_SECONDS)) return null
    const user = await findUser(deps.db, half.userId)
    return user && passwordDigest(context, user) === half.password ? { user, next: half.next } : null
  } catch {
    return null
  }
}

function passwordDigest({ deps }: Context, user: User): string {
  return deps.secrets.digest(`second-step:${user.passwordHash}`).toString('base64url')
}

async function show(context: Context, user: User, problem: string | null, status = 200): Promise<void> {
  const { hasTotp, passkeys } = await findSecondFactors(context.deps.db, user.id)
  const passkey = passkeys.length > 0 && (await PasskeySignIn({ context, next: '/' }))
  sendPage(
    context,
    { title: 'Second factor' },
    <section class="card narrow">
      <h1>One more step</h1>
      <Problem text={problem} />
      {passkey}
      <FieldForm
        context={context}
        action="/sign-in/second-step"
        items={[
          {
            name: 'code',
            label: hasTotp ? 'Code of your authenticator app' : 'Recovery code',
            autocomplete: 'one-time-code',
            hint: hasTotp ? 'Six digits. A recovery code works too.' : undefined,
            isRequired: true,
            maxLength: 20,
          },
        ]}
        submit="Sign in"
        isMain
      />
      <p class="foot">
        <a href="/sign-in">Back to sign in</a>
      </p>
    </section>,
    status,
  )
}
