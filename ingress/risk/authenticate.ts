import type { Request, Response } from 'express'
import { ForbiddenError, UnauthorizedError } from '#shared/errors.ts'
import { type AccessToken, type ApiEnv, readKid, verifyAccessToken } from '#shared/oauth/access-token.ts'
import { type Scope, scopesOf } from '#shared/oauth/families.ts'
import type { IngressDeps } from '../deps.ts'
import { RateLimitedError } from '../middleware/request-errors.ts'
import { platformServices } from './services.ts'

/** Who calls under `/v1`. Every query is scoped by `organisationId` and `env`. */
export interface Caller {
  organisationId: number
  organisationUuid: string
  env: ApiEnv
  clientId: string
  /** what the token, the client and the organisation's entitlements agree on now */
  scopes: ReadonlySet<string>
}

/**
 * Who sent this request, by its bearer token (RFC 6750; the scheme's case does not matter).
 * @throws UnauthorizedError with a challenge in WWW-Authenticate
 */
export async function authenticate(request: Request, response: Response, deps: IngressDeps): Promise<Caller> {
  const { authorization } = request.headers
  const match = /^bearer +(\S+) *$/i.exec(authorization ?? '')
  const jwt = match?.[1]
  if (jwt === undefined) {
    response.setHeader('WWW-Authenticate', 'Bearer')
    throw new UnauthorizedError('a bearer access token is required')
  }
  try {
    return await callerOf(await verifyToken(jwt, deps), deps)
  } catch (error) {
    if (error instanceof UnauthorizedError) response.setHeader('WWW-Authenticate', 'Bearer error="invalid_token"')
    throw error
  }
}

async function verifyToken(jwt: string, deps: IngressDeps): Promise<AccessToken> {
  const { keyRing, audience } = platformServices(deps)
  const key = await keyRing.verifier(readKid(jwt))
  if (!key) throw new UnauthorizedError('the access token is not accepted: its signature is not ours')
  return await verifyAccessToken(jwt, audience, key, deps.now() / 1_000_000)
}

/** A token says what was granted; what counts is what is still granted. */
async function callerOf(token: AccessToken, deps: IngressDeps): Promise<Caller> {
  const client = await platformServices(deps).clients.find(token.clientId)
  if (!client || client.isDisabled || client.env !== token.env || client.organisationUuid !== token.org) {
    throw new UnauthorizedError('the access token is not accepted: its client is not active')
  }
  const entitled = new Set(scopesOf(client.families))
  const scopes = token.scopes.filter((scope) => client.scopes.includes(scope) && entitled.has(scope))
  return {
    organisationId: client.organisationId,
    organisationUuid: client.organisationUuid,
    env: client.env,
    clientId: client.clientId,
    scopes: new Set(scopes),
  }
}

/** @throws ForbiddenError that says nothing of whether the resource exists */
export function requireScope(caller: Caller, scope: Scope, response: Response): void {
  if (caller.scopes.has(scope)) return
  response.setHeader('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
  throw new ForbiddenError(`the scope ${scope} is needed, and the organisation's entitlement to its family`)
}

/**
 * Counts the request against the limit of the caller's organisation, environment and family, and says how it stands
 * (draft-ietf-httpapi-ratelimit-headers).
 * @throws RateLimitedError
 */
export function limitCaller(caller: Caller, scope: Scope, response: Response, deps: IngressDeps): void {
  const family = scope.split(':', 1)[0]
  const bucket = `${caller.organisationId}/${caller.env}/${family}`
  const standing = platformServices(deps).rateLimiter.take(bucket, deps.now() / 1000)
  if (!standing) return
  const { quota, remaining, resetSeconds } = standing
  response.setHeader('RateLimit-Policy', `"default";q=${quota};w=60`)
  response.setHeader('RateLimit', `"default";r=${remaining};t=${resetSeconds}`)
  if (standing.isOver) throw new RateLimitedError('too many requests of this organisation', resetSeconds)
}
