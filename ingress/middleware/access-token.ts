import type { Request, Response } from 'express'
import type { ApiEnv } from '#shared/environment.ts'
import { ForbiddenError, RateLimitedError, UnauthorizedError } from '#shared/errors.ts'
import { acrossTenants, enterTenant } from '#shared/platform/database/tenant.ts'
import { addressBucket } from '#shared/platform/http/remote-addr.ts'
import type { TokenBuckets } from '#shared/platform/process/token-buckets.ts'
import type { Actor } from '#shared/tenancy/actor.ts'
import { type AccessToken, readKid, verifyAccessToken } from '#shared/tenancy/oauth/access-token.ts'
import { CLIENT_SCOPES, type Family, familiesOf, type Scope, scopesOf } from '#shared/tenancy/oauth/families.ts'
import { toMillis, toSeconds } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import { clientAddress, isRepeated } from './request-safety.ts'

/** Caller of an operation under `/v1`. Every query is scoped by `organisationId` and `env`. */
export interface Caller {
  organisationId: number
  organisationUuid: string
  env: ApiEnv
  clientId: string
  actor: Actor
  /** granted by the token, the client and the entitlements of the organisation */
  scopes: ReadonlySet<string>
  /** families of the organisation in which the client takes part; it may read their events */
  families: readonly Family[]
}

/**
 * Authenticates a request by its bearer token (RFC 6750; the scheme's case does not matter).
 * @throws UnauthorizedError with a challenge in WWW-Authenticate
 */
export async function authenticate(request: Request, response: Response, deps: IngressDeps): Promise<Caller> {
  // Node returns only the first of several Authorization headers, so several are refused.
  const authorization = isRepeated(request, 'authorization') ? '' : (request.headers.authorization ?? '')
  const match = /^bearer +(\S+) *$/i.exec(authorization)
  const jwt = match?.[1]
  if (jwt === undefined) {
    response.setHeader('WWW-Authenticate', 'Bearer')
    throw new UnauthorizedError('one bearer access token is required')
  }
  try {
    const caller = await acrossTenants(() => callerOfToken(jwt, request, deps, deps.config.publicUrl))
    enterTenant({ organisationId: caller.organisationId })
    return caller
  } catch (error) {
    if (error instanceof UnauthorizedError) response.setHeader('WWW-Authenticate', 'Bearer error="invalid_token"')
    throw error
  }
}

/**
 * Returns the holder of an access token with its current scopes. The lookup crosses tenants; the caller enters one.
 * @param resource required audience (RFC 8707)
 * @throws UnauthorizedError
 */
export async function callerOfToken(
  jwt: string,
  request: Request,
  deps: IngressDeps,
  resource: string,
): Promise<Caller> {
  return await callerOf(await verifyToken(jwt, deps, resource), request, deps)
}

async function verifyToken(jwt: string, deps: IngressDeps, resource: string): Promise<AccessToken> {
  const { keyRing, issuer } = deps.risk
  const key = await keyRing.verifier(readKid(jwt))
  if (!key) throw new UnauthorizedError('the access token is not accepted: its signature is not valid')
  return await verifyAccessToken(jwt, { issuer, audience: resource }, key, toSeconds(deps.now()))
}

async function callerOf(token: AccessToken, request: Request, deps: IngressDeps): Promise<Caller> {
  const client = await deps.risk.clients.find(token.clientId)
  if (!client || client.isDisabled || client.env !== token.env || client.organisationUuid !== token.org) {
    throw new UnauthorizedError('the access token is not accepted: its client is not active')
  }
  const entitled = new Set(scopesOf(client.families, CLIENT_SCOPES))
  const scopes = token.scopes.filter((scope) => client.scopes.includes(scope) && entitled.has(scope))
  return {
    organisationId: client.organisationId,
    organisationUuid: client.organisationUuid,
    env: client.env,
    clientId: client.clientId,
    actor: {
      kind: 'client',
      id: client.clientId,
      owner: client.organisationUuid,
      address: clientAddress(request, deps),
    },
    scopes: new Set(scopes),
    families: familiesOf(client),
  }
}

/** @throws ForbiddenError that does not reveal if the resource exists */
export function requireScope(caller: Caller, scope: Scope, response: Response): void {
  if (caller.scopes.has(scope)) return
  response.setHeader('WWW-Authenticate', `Bearer error="insufficient_scope", scope="${scope}"`)
  throw new ForbiddenError(`the scope ${scope} is required, and the organisation must be entitled to its family`)
}

/**
 * Counts a request per organisation, environment and family, and sets the headers of
 * draft-ietf-httpapi-ratelimit-headers.
 * @throws RateLimitedError
 */
export function limitCaller(caller: Caller, scope: Scope, response: Response, deps: IngressDeps): void {
  const family = scope.split(':', 1)[0]
  const bucket = `${caller.organisationId}/${caller.env}/${family}`
  const quota = deps.config.platformRateLimitPerMinute
  if (quota > 0) takeToken(deps.risk.callers, bucket, quota, 'this organisation', response, deps)
}

/**
 * Counts a lookup without an access token per address; an IPv6 network of 64 bits counts as one address.
 * @throws RateLimitedError
 */
export function limitAddress(request: Request, response: Response, deps: IngressDeps): void {
  const quota = deps.config.publicRateLimitPerMinute
  const bucket = addressBucket(clientAddress(request, deps))
  if (quota > 0) takeToken(deps.risk.addresses, bucket, quota, 'this address', response, deps)
}

/**
 * Counts a verification separately, because it costs more than a lookup.
 * @throws RateLimitedError
 */
export function limitVerification(request: Request, response: Response, deps: IngressDeps): void {
  const quota = deps.config.publicRateLimitPerMinute
  const bucket = addressBucket(clientAddress(request, deps))
  if (quota > 0) takeToken(deps.risk.verifications, bucket, quota, 'this address', response, deps)
}

function takeToken(
  buckets: TokenBuckets,
  bucket: string,
  quota: number,
  who: string,
  response: Response,
  deps: IngressDeps,
): void {
  const { granted, left, fullInSeconds, retryAfterSeconds } = buckets.take(bucket, toMillis(deps.now()))
  response.setHeader('RateLimit-Policy', `"default";q=${quota};w=60`)
  response.setHeader('RateLimit', `"default";r=${left};t=${fullInSeconds}`)
  if (!granted) throw new RateLimitedError(`too many requests of ${who}`, retryAfterSeconds)
}
