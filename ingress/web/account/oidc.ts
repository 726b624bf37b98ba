import type * as client from 'openid-client'
import { ConflictError, ForbiddenError, NotFoundError, UnavailableError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { insertAudit } from '#shared/tenancy/accounts/audit-store.ts'
import { findLink, useLink } from '#shared/tenancy/accounts/link-store.ts'
import { verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { normalEmail } from '#shared/tenancy/accounts/roles.ts'
import type { Session } from '#shared/tenancy/accounts/session-store.ts'
import {
  deleteIdentity,
  findUser,
  findUserByIdentity,
  insertIdentity,
  insertMembership,
  insertUser,
  listIdentities,
} from '#shared/tenancy/accounts/store.ts'
import { queueLinkMail } from '#shared/tenancy/operations/link-mails.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { audit, auditAccount } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { readCookie, setCookie, startSession } from '../shell/sessions.ts'
import { signedIn } from '../shell/workspace.ts'
import { safeNext } from './safe-next.ts'
import { throttle } from './throttle.ts'

/** Values that the issuer must return; encrypted in a cookie of the browser that started the sign-in. */
interface Flow {
  state: string
  nonce: string
  verifier: string
  next: string
  /** account to connect the identity to; null for a sign-in */
  userId: number | null
  startedAt: number
}

const FLOW_SECONDS = 600

/** OpenID Connect, authorization code flow with PKCE. Accounts are found by issuer and subject, never by address. */
export function oidcPages(pages: Pages): void {
  pages.post('/sign-in/oidc', async (context) => {
    await begin(context, null, safeNext(context.form.get('next')))
  })
  pages.post('/account/oidc', async (context) => {
    const { session } = await signedIn(context)
    // Requires the password, because a stolen session must not add a sign-in that outlives it.
    await requirePassword(context, session)
    await begin(context, session.userId, '/account?done=identity-connected')
  })
  pages.post('/account/oidc/disconnect', disconnect)
  pages.get('/sign-in/oidc/callback', finish)
}

/** Loaded by the first sign-in at an issuer. */
const openidClient = () => import('openid-client')

async function issuerOf(context: Context): Promise<client.Configuration> {
  const { config } = context.deps
  if (config.oidcIssuer === undefined || config.oidcClientId === undefined) {
    throw new NotFoundError('No issuer is configured for signing in.')
  }
  const client = await openidClient()
  const known = context.deps.oidcIssuers
  const discovery =
    known.get(config.oidcIssuer) ??
    client.discovery(new URL(config.oidcIssuer), config.oidcClientId, config.oidcClientSecret, undefined, {
      // Only the operator can choose plain http, for an issuer on the same machine.
      execute: config.oidcIssuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
      timeout: 10,
    })
  known.set(config.oidcIssuer, discovery)
  try {
    return await discovery
  } catch (error) {
    known.delete(config.oidcIssuer)
    throw new UnavailableError('The sign-in service cannot be reached now.', { cause: error })
  }
}

async function begin(context: FormContext, userId: number | null, next: string): Promise<void> {
  const { deps, response } = context
  const issuer = await issuerOf(context)
  const client = await openidClient()
  const flow: Flow = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
    next,
    userId,
    startedAt: deps.now(),
  }
  setCookie(response, deps.config, 'sign-in', deps.secrets.seal('sign-in', JSON.stringify(flow)), FLOW_SECONDS)
  const url = client.buildAuthorizationUrl(issuer, {
    redirect_uri: redirectUri(context),
    scope: 'openid email profile',
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
  })
  response.status(303).set('Location', url.href).end()
}

/** Uses the configured public URL, because the Host header can be forged. */
function redirectUri(context: Context): string {
  return `${context.deps.config.publicUrl}/sign-in/oidc/callback`
}

async function finish(context: Context): Promise<void> {
  const { deps, request, response } = context
  const flow = readFlow(context)
  await throttle(context, 'oidc', flow?.state ?? context.address)
  // Ends this flow in any case, so that its response cannot be replayed.
  setCookie(response, deps.config, 'sign-in', '', 0)
  if (!flow) throw new ForbiddenError('This sign-in was not begun in this browser, or took too long. Begin again.')
  const claims = await exchange(context, flow, new URL(deps.config.publicUrl + request.originalUrl))
  const known = await findUserByIdentity(deps.db, claims.iss, claims.sub)
  if (flow.userId !== null) return await connect(context, flow, claims, known?.id ?? null)
  const userId = known?.id ?? (await joinByInvitation(context, flow, claims))
  if (userId === null) {
    throw new ForbiddenError(
      'No account here is connected to this identity. Sign in with your password and connect it on the account page, or open an invitation first.',
    )
  }
  await startSession(context, userId)
  const user = await findUser(deps.db, userId)
  if (user) await auditAccount(context, user, 'sign-in.succeeded')
  redirect(context, flow.next.startsWith('/invitations/') && !known ? '/projects' : flow.next)
}

interface Claims {
  iss: string
  sub: string
  email: string | null
  name: string
}

/** Exchanges the code for claims. The library checks state, nonce, PKCE, issuer, audience, signature and age. */
async function exchange(context: Context, flow: Flow, url: URL): Promise<Claims> {
  const issuer = await issuerOf(context)
  const client = await openidClient()
  try {
    const tokens = await client.authorizationCodeGrant(
      issuer,
      url,
      {
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        pkceCodeVerifier: flow.verifier,
        idTokenExpected: true,
      },
      undefined,
    )
    const claims = tokens.claims()
    if (!claims) throw new Error('the answer has no identity')
    const info = await client.fetchUserInfo(issuer, tokens.access_token, claims.sub).catch(() => null)
    const email = claims.email ?? info?.email
    const isVerified = (claims.email_verified ?? info?.email_verified) === true
    return {
      iss: claims.iss,
      sub: claims.sub,
      // Ignores an address that the issuer has not verified.
      email: isVerified && typeof email === 'string' ? normalEmail(email) : null,
      name: String(claims.name ?? info?.name ?? '').slice(0, 100),
    }
  } catch (error) {
    context.deps.log.warn(describeError(error), 'oidc.refused')
    throw new ForbiddenError('The sign-in service did not confirm who you are. Begin again.')
  }
}

async function connect(context: Context, flow: Flow, claims: Claims, owner: number | null): Promise<void> {
  const { session, deps } = context
  if (!session || session.userId !== flow.userId) {
    throw new ForbiddenError('You have signed in or out since this began. Begin again from the account page.')
  }
  await deps.outbox.run(async (tx, enqueue) => {
    const isNew = await insertIdentity(tx, { issuer: claims.iss, subject: claims.sub, userId: session.userId })
    if (!isNew && owner !== session.userId) throw new ConflictError('That identity belongs to another account here.')
    await audit(context, null, 'identity.connected', claims.iss, tx)
    await queueLinkMail(tx, enqueue, deps, {
      to: session.email,
      subject: `A sign-in provider was connected at ${deps.config.siteName}`,
      lead: `An identity of ${new URL(claims.iss).host} can now sign in to your account. If you did not connect it, choose a new password. That disconnects it.`,
      action: 'Choose a new password',
      path: '/reset-password',
      foot: 'If you connected it, no action is needed.',
    })
  })
  redirect(context, flow.next)
}

/** Removes an identity, unless it is the only way to sign in. */
async function disconnect(context: FormContext): Promise<void> {
  const { session } = await signedIn(context)
  const { db } = context.deps
  const identity = { issuer: field(context.form, 'issuer'), subject: field(context.form, 'subject') }
  await transaction(db, async (tx) => {
    const user = await findUser(tx, session.userId)
    if (!user?.passwordHash && (await listIdentities(tx, session.userId)).length < 2) {
      throw new ConflictError('It is your only way to sign in: choose a password first.')
    }
    if (!(await deleteIdentity(tx, { ...identity, userId: session.userId }))) {
      throw new NotFoundError('That identity is not connected to your account.')
    }
    await audit(context, null, 'identity.disconnected', identity.issuer, tx)
  })
  redirect(context, '/account?done=identity-disconnected')
}

/** @throws ForbiddenError if the user has a password and the form does not contain it */
async function requirePassword(context: FormContext, { userId, email }: Session): Promise<void> {
  await throttle(context, 'password', email)
  const user = await findUser(context.deps.db, userId)
  if (user?.passwordHash && !(await verifyPassword(user.passwordHash, context.form.get('password') ?? ''))) {
    throw new ForbiddenError('That is not your current password.')
  }
}

/** Creates an account for a new user whose verified address has an invitation. */
async function joinByInvitation(context: Context, flow: Flow, claims: Claims): Promise<number | null> {
  const { db, secrets } = context.deps
  const token = /^\/invitations\/([\w-]{43})$/.exec(flow.next)?.[1]
  if (token === undefined || claims.email === null) return null
  const link = await findLink(db, 'invitation', secrets.digests(`invitation:${token}`))
  if (!link || link.organisationId === null || link.role === '' || link.email !== claims.email) return null
  const { organisationId, role } = link
  return await transaction(db, async (tx) => {
    if (!(await useLink(tx, link.id))) return null
    const user = await insertUser(tx, { email: link.email, name: claims.name, passwordHash: null })
    // An equal address is not enough: only its signed-in owner may connect an existing account.
    if (!user)
      throw new ForbiddenError(
        'That address already has an account. Sign in with its password, or choose a new password by mail first. Then open the invitation.',
      )
    await insertIdentity(tx, { issuer: claims.iss, subject: claims.sub, userId: user.id })
    await insertMembership(tx, { organisationId, userId: user.id, role })
    await insertAudit(tx, {
      organisationId,
      userId: user.id,
      actor: link.email,
      action: 'invitation.accepted',
      target: role,
      address: context.address,
    })
    return user.id
  })
}

function readFlow(context: Context): Flow | null {
  const { deps, request } = context
  const sealed = readCookie(request, deps.config, 'sign-in')
  try {
    const flow: Flow = JSON.parse(deps.secrets.open('sign-in', sealed))
    return deps.now() - flow.startedAt < microsOfSeconds(FLOW_SECONDS) ? flow : null
  } catch {
    return null
  }
}
