import type { IncomingMessage } from 'node:http'
import type { Request, Response } from 'express'
import { ForbiddenError, RateLimitedError, UnauthorizedError } from '#shared/errors.ts'
import { acrossTenants, enterTenant } from '#shared/platform/database/tenant.ts'
import type { Config } from '#shared/platform/process/config.ts'
import { equalSecrets } from '#shared/platform/process/secrets.ts'
import { type Budgets, MONITORING_SCOPES, readAgentKey } from '#shared/tenancy/agents/agent-key.ts'
import { findAgentLogin } from '#shared/tenancy/agents/key-store.ts'
import { toolsResource } from '#shared/tenancy/oauth/access-token.ts'
import { CLIENT_SCOPES, familiesOf, scopesOf } from '#shared/tenancy/oauth/families.ts'
import { toMillis } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import { type Caller, callerOfToken } from '../middleware/access-token.ts'
import { clientAddress, isRepeated } from '../middleware/request-safety.ts'
import type { AgentDirectory } from './agent-directory.ts'

/** Tools read and write only this organisation and environment; monitoring tools only its `projects`. */
export interface AgentCaller extends Caller {
  /** id of the agent key's row; null for a client with an access token */
  agentKeyId: number | null
  /** id of the agent key or the client, for the audit */
  keyId: string
  name: string
  /** projects whose checks the key may see */
  projects: readonly { id: number; uuid: string }[]
  /** calls per UTC day; null without a limit */
  dailyLimit: number | null
  budgets: Budgets
}

/** RFC 9728: clients find the authorization server of the tools here. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource/mcp'

/**
 * Authenticates an agent key, or an access token that was requested with `resource=<PUBLIC_URL>/mcp`.
 * @throws UnauthorizedError with a challenge (RFC 9728 section 5.1)
 */
export async function authenticateAgent(
  request: Request,
  response: Response,
  deps: IngressDeps,
  directory: AgentDirectory,
): Promise<AgentCaller> {
  const authorization = isRepeated(request, 'authorization') ? '' : (request.headers.authorization ?? '')
  const credential = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  try {
    if (credential === undefined) throw new UnauthorizedError('an agent key is required')
    const caller = await acrossTenants(async () =>
      credential.startsWith('rsk_')
        ? await callerOfKey(credential, request, deps, directory)
        : await callerOfAccessToken(credential, request, deps),
    )
    enterTenant({ organisationId: caller.organisationId })
    return caller
  } catch (error) {
    if (error instanceof UnauthorizedError) response.setHeader('WWW-Authenticate', challenge(deps))
    throw error
  }
}

function challenge({ config }: Pick<IngressDeps, 'config'>): string {
  return `Bearer resource_metadata="${config.publicUrl}${RESOURCE_METADATA_PATH}"`
}

async function callerOfKey(
  text: string,
  request: Request,
  deps: IngressDeps,
  { logins }: AgentDirectory,
): Promise<AgentCaller> {
  const given = readAgentKey(text)
  const login = given && (logins.get(given.keyId) ?? (await findAgentLogin(deps.db, given.keyId)))
  // Unknown keys are not cached, because guesses must not evict valid keys.
  const isRight = login !== undefined && login.env === given?.env && equalSecrets(login.digest, given.digest)
  if (!isRight) throw new UnauthorizedError('the agent key is not accepted')
  logins.set(login.keyId, login, { noUpdateTTL: true })
  const ended = login.revokedAt
    ? 'was revoked'
    : login.expiresAt.getTime() <= toMillis(deps.now())
      ? 'has expired'
      : null
  if (ended) throw new UnauthorizedError(`the agent key ${ended}`)
  const entitled = new Set([...scopesOf(login.families, CLIENT_SCOPES), ...MONITORING_SCOPES])
  return {
    organisationId: login.organisationId,
    organisationUuid: login.organisationUuid,
    env: login.env,
    clientId: login.keyId,
    actor: { kind: 'agent', id: login.keyId, name: login.name, address: clientAddress(request, deps) },
    scopes: new Set(login.scopes.filter((scope) => entitled.has(scope))),
    families: familiesOf(login),
    agentKeyId: login.id,
    keyId: login.keyId,
    name: login.name,
    projects: login.projects,
    dailyLimit: login.dailyLimit,
    budgets: login.budgets,
  }
}

/** An access token grants the scopes that it contains, but no project, and has no budgets. */
async function callerOfAccessToken(jwt: string, request: Request, deps: IngressDeps): Promise<AgentCaller> {
  const caller = await callerOfToken(jwt, request, deps, toolsResource(deps.config.publicUrl))
  return { ...caller, agentKeyId: null, keyId: caller.clientId, name: '', projects: [], dailyLimit: null, budgets: {} }
}

/** @throws ForbiddenError if the key may not call any tool */
export function requireInvoke(caller: AgentCaller): void {
  if (!caller.scopes.has('agents:invoke')) {
    throw new ForbiddenError("the scope agents:invoke is needed, and the organisation's entitlement to agents")
  }
}

/** Counts the request against the limit per minute of its key. @throws RateLimitedError */
export function limitAgent(
  caller: AgentCaller,
  response: Response,
  deps: IngressDeps,
  { buckets }: AgentDirectory,
): void {
  const quota = deps.config.agentRateLimitPerMinute
  if (quota === 0) return
  const { granted, left, fullInSeconds, retryAfterSeconds } = buckets.take(caller.keyId, toMillis(deps.now()))
  response.setHeader('RateLimit-Policy', `"default";q=${quota};w=60`)
  response.setHeader('RateLimit', `"default";r=${left};t=${fullInSeconds}`)
  if (!granted) throw new RateLimitedError('too many calls of this key', retryAfterSeconds)
}

/** Maximum concurrent calls per key, because each call uses a database connection from time to time. */
const CALLS_AT_ONCE = 16

/**
 * Counts a call as running.
 * @returns a function that ends the count
 * @throws RateLimitedError if too many calls of the key are running
 */
export function beginCall({ keyId }: AgentCaller, { underWay }: AgentDirectory): () => void {
  const count = underWay.get(keyId) ?? 0
  if (count >= CALLS_AT_ONCE) throw new RateLimitedError('too many calls of this key at once', 1)
  underWay.set(keyId, count + 1)
  return () => {
    const left = (underWay.get(keyId) ?? 1) - 1
    if (left > 0) underWay.set(keyId, left)
    else underWay.delete(keyId)
  }
}

/**
 * Refuses requests from pages of another origin, which would use a browser's credentials, and foreign host names that
 * resolve to our address (DNS rebinding).
 * @throws ForbiddenError
 */
export function refuseForeignOrigin(
  request: IncomingMessage,
  config: Pick<Config, 'publicUrl' | 'mcpAllowedOrigins'>,
): void {
  const own = new URL(config.publicUrl)
  const { origin, host } = request.headers
  if (origin !== undefined && origin !== own.origin && !config.mcpAllowedOrigins.includes(origin)) {
    throw new ForbiddenError('requests of this origin are not accepted')
  }
  const hosts = [own.host, ...config.mcpAllowedOrigins.map((allowed) => URL.parse(allowed)?.host)]
  const isLoopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(host ?? '')
  if (!isLoopback && !hosts.includes(host)) throw new ForbiddenError('requests for this host are not accepted')
}
