import { ConflictError, ForbiddenError, NotFoundError, ValidationError } from '#shared/errors.ts'
import { creationOptions } from '#shared/tenancy/accounts/passkey.ts'
import { verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { findSecondFactors, findTotp, useChallenge } from '#shared/tenancy/accounts/second-factor-store.ts'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import { findUser } from '#shared/tenancy/accounts/store.ts'
import {
  addPasskey,
  confirmTotp,
  prepareTotp,
  removeSecondFactor,
  renewRecoveryCodes,
} from '#shared/tenancy/operations/second-factor.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { personOf } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { sendPage } from '../shell/layout.tsx'
import { readCookie, setCookie } from '../shell/sessions.ts'
import { signedIn, type Workspace } from '../shell/workspace.ts'
import { openChallenge, PasskeyForm, sealChallenge, siteOf } from './passkey-form.tsx'
import { Factors, NewTotp, PasswordPrompt } from './second-factor-view.tsx'
import { throttle } from './throttle.ts'

const PAGE = '/account/second-factor'
/** Seconds for which a password confirmation is valid. */
const RECENT_SECONDS = 900

interface RecentPassword {
  sessionId: number
  at: Micros
}

/** Changes to second factors require a recent password confirmation. */
export function secondFactorPages(pages: Pages): void {
  pages.get(PAGE, (context) => show(context))
  pages.post(PAGE, confirmPassword)
  pages.get(`${PAGE}/totp`, (context) => showTotp(context, null))
  pages.post(`${PAGE}/totp`, async (context) => {
    const { session } = await confirmed(context)
    await prepareTotp(context.deps.db, session.userId, context.deps)
    redirect(context, `${PAGE}/totp`)
  })
  pages.post(`${PAGE}/totp/confirm`, confirmCode)
  pages.post(`${PAGE}/passkeys`, savePasskey)
  pages.post(`${PAGE}/remove`, async (context) => {
    const { session } = await confirmed(context)
    const passkey = field(context.form, 'passkey')
    const which = passkey === '' ? ({ totp: true } as const) : { passkey }
    await removeSecondFactor(personOf(context, session), ownerOf(session), which, context.deps)
    showOnce(context, [], 'It is removed and can no longer be used to sign in.')
  })
  pages.post(`${PAGE}/recovery-codes`, async (context) => {
    const { session } = await confirmed(context)
    showOnce(context, await renewRecoveryCodes(personOf(context, session), ownerOf(session), context.deps), undefined)
  })
}

async function confirmPassword(context: FormContext): Promise<void> {
  const workspace = await signedIn(context)
  const { session } = workspace
  const { db, config, secrets, now } = context.deps
  await throttle(context, 'password', session.email)
  const user = await findUser(db, session.userId)
  const typed = context.form.get('password') ?? ''
  if (user?.passwordHash && !(await verifyPassword(user.passwordHash, typed))) {
    return sendPasswordPrompt(context, workspace, 'That is not your password.')
  }
  const recent: RecentPassword = { sessionId: session.id, at: now() }
  const sealed = secrets.seal('recent-password', JSON.stringify(recent))
  setCookie(context.response, config, 'recent-password', sealed, RECENT_SECONDS)
  redirect(context, PAGE)
}

async function confirmCode(context: FormContext): Promise<void> {
  const { session } = await confirmed(context)
  const { deps, form } = context
  await throttle(context, 'second-factor', session.email)
  try {
    const owner = ownerOf(session)
    const codes = await confirmTotp(personOf(context, session), owner, field(form, 'code'), deps.now(), deps)
    showOnce(context, codes, 'The authenticator app is set up. From now on signing in requires one of its codes.')
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error
    await showTotp(context, 'That is not the code that the app shows now. Is the clock of the phone right?')
  }
}

async function savePasskey(context: FormContext): Promise<void> {
  const { session } = await confirmed(context)
  const { deps, form } = context
  const site = siteOf(context)
  const challenge = openChallenge(context, session.userId)
  const answer = form.get('answer') ?? ''
  const created = site && challenge ? await deps.threads.run('verifyPasskeyMade', { site, challenge, answer }) : null
  if (created === null || challenge === null) throw new ForbiddenError('The passkey could not be verified. Try again.')
  if (!(await useChallenge(deps.db, deps.secrets.digest(`challenge:${challenge}`)))) {
    throw new ConflictError('That passkey was added a moment ago.')
  }
  const name = field(form, 'name').slice(0, 60) || 'Passkey'
  // A thread returns a buffer as plain bytes.
  const publicKey = Buffer.from(created.publicKey)
  const codes = await addPasskey(personOf(context, session), ownerOf(session), { ...created, publicKey, name }, deps)
  showOnce(context, codes, `The passkey “${name}” is added. It signs you in without a password.`)
}

/** The next page shows the codes once. */
function showOnce(context: Context, codes: readonly string[], notice: string | undefined): void {
  setFlash(context, PAGE, { ...(notice && { notice }), ...(codes.length > 0 && { secret: codes.join('\n') }) })
  redirect(context, PAGE)
}

function ownerOf({ userId, email }: Session): { id: number; email: string } {
  return { id: userId, email }
}

/** @throws ForbiddenError if the password was not confirmed recently */
async function confirmed(context: Context): Promise<Workspace> {
  const workspace = await signedIn(context)
  if (!isConfirmed(context, workspace.session)) {
    throw new ForbiddenError('You confirmed your password too long ago. Open the page again.')
  }
  return workspace
}

function isConfirmed({ request, deps }: Context, session: Session): boolean {
  try {
    const sealed = readCookie(request, deps.config, 'recent-password')
    const recent: RecentPassword = JSON.parse(deps.secrets.open('recent-password', sealed))
    return recent.sessionId === session.id && deps.now() - recent.at < microsOfSeconds(RECENT_SECONDS)
  } catch {
    return false
  }
}

async function show(context: Context): Promise<void> {
  const workspace = await signedIn(context)
  const { session } = workspace
  if (!isConfirmed(context, session)) return sendPasswordPrompt(context, workspace, null)
  const factors = await findSecondFactors(context.deps.db, session.userId)
  sendPage(
    context,
    { title: 'Second factor', workspace, area: 'account' },
    <Factors
      context={context}
      base={PAGE}
      factors={factors}
      passkeyForm={await newPasskey(context, session, factors)}
    />,
  )
}

async function newPasskey(context: Context, session: Session, factors: Awaited<ReturnType<typeof findSecondFactors>>) {
  const site = siteOf(context)
  if (site === null) return null
  const { challenge, sealed } = sealChallenge(context, session.userId)
  const person = { uuid: session.userUuid, email: session.email, name: session.name }
  const known = factors.passkeys.map(({ credentialId }) => credentialId)
  const options = creationOptions(site, person, challenge, known)
  return (
    <PasskeyForm
      context={context}
      action={`${PAGE}/passkeys`}
      kind="create"
      options={options}
      sealed={sealed}
      class="inline-fields"
    >
      <div class="field">
        <label for="name">Name of the new passkey</label>
        <input id="name" name="name" type="text" maxLength={60} placeholder="Laptop" autocomplete="off" />
      </div>
      <button type="submit">Add a passkey</button>
    </PasskeyForm>
  )
}

async function showTotp(context: Context, problem: string | null): Promise<void> {
  const workspace = await signedIn(context)
  const { session } = workspace
  const { db, secrets, config } = context.deps
  if (!isConfirmed(context, session)) return redirect(context, PAGE)
  const totp = await findTotp(db, session.userId)
  if (!totp || totp.isConfirmed) throw new NotFoundError('There is no authenticator app to set up. Begin again.')
  const secret = secrets.open('second-factor', totp.sealedSecret)
  sendPage(
    context,
    { title: 'Authenticator app', workspace, area: 'account' },
    <NewTotp
      context={context}
      base={PAGE}
      secret={secret}
      issuer={config.siteName}
      email={session.email}
      problem={problem}
    />,
    problem === null ? 200 : 400,
  )
}

function sendPasswordPrompt(context: Context, workspace: Workspace, problem: string | null): void {
  sendPage(
    context,
    { title: 'Second factor', workspace, area: 'account' },
    <PasswordPrompt context={context} base={PAGE} problem={problem} />,
    problem === null ? 200 : 400,
  )
}
