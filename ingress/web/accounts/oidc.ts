import * as client from 'openid-client'
import { insertAudit } from '#shared/accounts/audit-store.ts'
import { normalEmail } from '#shared/accounts/email.ts'
import { findLink, useLink } from '#shared/accounts/link-store.ts'
import { findUserByIdentity, insertIdentity, insertMembership, insertUser } from '#shared/accounts/store.ts'
import { ConflictError, ForbiddenError, NotFoundError, UnavailableError } from '#shared/errors.ts'
import { transaction } from '#shared/platform/db.ts'
import { describeError } from '#shared/platform/log.ts'
import { perProcess } from '../../middleware/per-process.ts'
import { audit } from '../audit.ts'
import { type Context, type FormContext, type Pages, redirect } from '../context.ts'
import { readCookie, setCookie } from '../cookies.ts'
import { startSession } from '../sessions.ts'
import { signedIn } from '../workspace.ts'
import { safeNext } from './sign-in.tsx'
import { throttle } from './throttle.ts'

/** What one sign-in at the issuer must come back with; sealed in a cookie of the browser that began it. */
interface Flow {
  state: string
  nonce: string
  verifier: string
  next: string
  /** the account that an identity is to be connected to; null when signing in */
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
    await begin(context, session.userId, '/account?done=identity-connected')
  })
  pages.get('/sign-in/oidc/callback', finish)
}

const issuers = perProcess(() => new Map<string, Promise<client.Configuration>>())

async function issuerOf(context: Context): Promise<client.Configuration> {
  const { config } = context.deps
  if (config.oidcIssuer === undefined || config.oidcClientId === undefined) {
    throw new NotFoundError('No issuer is configured for signing in.')
  }
  const known = issuers(context.deps)
  const discovery =
    known.get(config.oidcIssuer) ??
    client.discovery(new URL(config.oidcIssuer), config.oidcClientId, config.oidcClientSecret, undefined, {
      // An issuer on plain http is the operator's own choice, for one on the same machine.
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
  const flow: Flow = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
    next,
    userId,
    startedAt: deps.now(),
  }
  setCookie(response, deps.config, 'sign-in', deps.secrets.seal(JSON.stringify(flow)), FLOW_SECONDS)
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

/** Always from the configured public address: the request's own host name may be anybody's. */
function redirectUri(context: Context): string {
  return `${context.deps.config.publicUrl}/sign-in/oidc/callback`
}

async function finish(context: Context): Promise<void> {
  const { deps, request, response } = context
  const flow = readFlow(context)
  await throttle(context, 'oidc', flow?.state ?? context.address)
  // Whatever comes of it, this flow is over: its answer cannot be played again.
  setCookie(response, deps.config, 'sign-in', '', 0)
  if (!flow) throw new ForbiddenError('This sign-in was not begun in this browser, or took too long. Begin again.')
  const claims = await exchange(context, flow, new URL(request.originalUrl, deps.config.publicUrl))
  const known = await findUserByIdentity(deps.db, claims.iss, claims.sub)
  if (flow.userId !== null) return await connect(context, flow, claims, known?.id ?? null)
  const userId = known?.id ?? (await joinByInvitation(context, flow, claims))
  if (userId === null) {
    throw new ForbiddenError(
      'No account here is connected to this identity. Sign in with your password and connect it on the account page, or open an invitation first.',
    )
  }
  await startSession(context, userId)
  redirect(context, flow.next.startsWith('/invitations/') && !known ? '/projects' : flow.next)
}

interface Claims {
  iss: string
  sub: string
  email: string | null
  name: string
}

/** The code becomes an identity; state, nonce, PKCE, issuer, audience, signature and age are the library's checks. */
async function exchange(context: Context, flow: Flow, url: URL): Promise<Claims> {
  const issuer = await issuerOf(context)
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
      // An address that the issuer has not verified is no address.
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
  const isNew = await insertIdentity(deps.db, { issuer: claims.iss, subject: claims.sub, userId: session.userId })
  if (!isNew && owner !== session.userId) throw new ConflictError('That identity belongs to another account here.')
  await audit(context, null, 'identity.connected', claims.iss)
  redirect(context, flow.next)
}

/** A new person with an invitation to this very address, which the issuer has verified, gets an account. */
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
    // An account with this address exists: it is joined by its owner signing in, not by an equal address.
    if (!user) throw new ForbiddenError('That address has an account here. Sign in with it, then open the invitation.')
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
    const flow: Flow = JSON.parse(deps.secrets.open(sealed))
    return deps.now() - flow.startedAt < FLOW_SECONDS * 1_000_000 ? flow : null
  } catch {
    return null
  }
}
