import { hash, randomUUID } from 'node:crypto'
import type { Request, Response } from 'express'
import { z } from 'zod'
import type { ApiEnv } from '#shared/environment.ts'
import { addressBucket } from '#shared/platform/http/remote-addr.ts'
import { equalSecrets } from '#shared/platform/process/secrets.ts'
import { signAccessToken, toolsResource } from '#shared/tenancy/oauth/access-token.ts'
import { CLIENT_SCOPES, OFFERED_SCOPES, scopesOf } from '#shared/tenancy/oauth/families.ts'
import { activeSecretDigests, type ClientRecord, findClient } from '#shared/tenancy/oauth/store.ts'
import {
  grantScopes,
  OAuthError,
  parseTokenRequest,
  type TokenRequest,
  unknownClient,
} from '#shared/tenancy/oauth/token-request.ts'
import { toSeconds } from '#shared/time.ts'
import type { IngressDeps } from '../deps.ts'
import { problemDocument, toProblem } from '../errors.ts'
import { readBody } from '../middleware/body.ts'
import { queryOf } from '../middleware/form-text.ts'
import { clientAddress, isRepeated } from '../middleware/request-safety.ts'
import { problemResponses } from '../problem-responses.ts'
import { defineRoute } from '../route.ts'
import { throttled } from './token-throttle.ts'

const TokenResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
    scope: z.string(),
  })
  .meta({ id: 'TokenResponse' })

const TokenForm = z
  .object({
    grant_type: z.literal('client_credentials'),
    client_id: z.string().optional(),
    client_secret: z.string().optional(),
    scope: z.string().optional(),
    resource: z.string().optional(),
  })
  .meta({ id: 'TokenForm' })

const FORM_LIMIT = 16_384

export const tokenRoute = defineRoute({
  method: 'post',
  path: '/v1/oauth/token',
  operationId: 'issueToken',
  summary: 'Get an access token',
  description:
    'OAuth 2.0 client credentials (RFC 6749 section 4.4). The client authenticates with the two form fields or with ' +
    'HTTP Basic. No idempotency key is needed.',
  tags: ['Authentication'],
  security: [],
  params: {},
  body: { required: true, content: { 'application/x-www-form-urlencoded': TokenForm } },
  responses: {
    200: { description: 'A bearer token', content: { 'application/json': TokenResponse } },
    ...problemResponses(400, 401, 413, 415, 429, 503),
  },
  async handle(request, response, deps) {
    response.setHeader('Cache-Control', 'no-store')
    response.setHeader('Pragma', 'no-cache')
    try {
      response.json(await issueToken(request, deps))
    } catch (error) {
      failToken(error, request, response, deps)
    }
  },
})

async function issueToken(request: Request, deps: IngressDeps): Promise<z.infer<typeof TokenResponse>> {
  if (isRepeated(request, 'authorization')) throw unknownClient(true)
  const requested = parseTokenRequest(await readForm(request), request.headers.authorization, queryOf(request))
  const address = addressBucket(clientAddress(request, deps))
  const client = await throttled(deps, requested.clientId, address, async () => {
    const found = await findClient(deps.db, requested.clientId)
    const isRight = await isSecretOf(found, requested.clientSecret, deps)
    return isRight && !found?.isDisabled ? found : undefined
  })
  if (!client) throw unknownClient(requested.isBasic)
  const entitled = scopesOf(client.families, CLIENT_SCOPES)
  const allowed = client.scopes.filter((scope) => entitled.includes(scope) && OFFERED_SCOPES.includes(scope))
  const resource = resourceOf(requested, deps)
  const isForTools = resource === toolsResource(deps.config.publicUrl)
  const scopes = grantScopes(
    isForTools ? offeredTo(allowed, requested.scope) : requested.scope,
    allowed,
    requested.isBasic,
  )
  return await tokenFor(client, scopes, resource, deps)
}

/**
 * Drops requested scopes that only other clients may have. Client libraries request every scope of the metadata, and a
 * server may grant fewer (RFC 6749 section 3.3).
 */
function offeredTo(allowed: readonly string[], requested: string[] | null): string[] | null {
  const left = requested?.filter((scope) => allowed.includes(scope) || !OFFERED_SCOPES.includes(scope)) ?? []
  return left.length > 0 ? left : requested
}

/**
 * @throws OAuthError invalid_target (RFC 8707 section 2) unless all resources are the API, or all are its agent tools
 */
function resourceOf({ resources, isBasic }: TokenRequest, { config }: IngressDeps): string {
  const { publicUrl } = config
  const tools = toolsResource(publicUrl)
  const audiences = resources.map((resource) => {
    const href = URL.parse(resource)?.href
    if (href === URL.parse(tools)?.href) return tools
    // The address of the API has an optional final slash.
    return href?.replace(/\/$/, '') === URL.parse(publicUrl)?.href.replace(/\/$/, '') ? publicUrl : null
  })
  const [audience = publicUrl, ...others] = new Set(audiences)
  if (audience !== null && others.length === 0) return audience
  throw new OAuthError('invalid_target', 'resource must be this API or its agent tools, and not both', isBasic)
}

async function tokenFor(client: ClientRecord, scopes: string[], audience: string, deps: IngressDeps) {
  const { keyRing, issuer } = deps.risk
  const issuedAt = Math.floor(toSeconds(deps.now()))
  const lifetime = deps.config.tokenLifetimeSeconds
  const env: ApiEnv = client.env
  const token = {
    clientId: client.clientId,
    org: client.organisationUuid,
    env,
    scopes,
    issuedAt,
    expiresAt: issuedAt + lifetime,
    jti: randomUUID(),
  }
  return {
    access_token: await signAccessToken(token, { issuer, audience }, await keyRing.signer(client.tokenAlg)),
    token_type: 'Bearer' as const,
    expires_in: lifetime,
    scope: scopes.join(' '),
  }
}

const NO_CLIENT = -1

/** Does the same work for a client that does not exist, so that the response time reveals nothing. */
async function isSecretOf(client: ClientRecord | undefined, secret: string, deps: IngressDeps): Promise<boolean> {
  const digest = hash('sha256', secret, 'buffer')
  const stored = await activeSecretDigests(deps.db, client?.id ?? NO_CLIENT)
  const candidates = [...stored, NO_DIGEST, NO_DIGEST].slice(0, 2)
  let isRight = false
  for (const candidate of candidates) {
    if (equalSecrets(digest, candidate)) isRight = true
  }
  return isRight
}

const NO_DIGEST = Buffer.alloc(32)

async function readForm(request: Request): Promise<string> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  const body = await readBody(request, FORM_LIMIT)
  if (type !== 'application/x-www-form-urlencoded') {
    throw new OAuthError('invalid_request', 'the body must be application/x-www-form-urlencoded')
  }
  return body.toString('utf8')
}

/** Sends a body that is both an OAuth error (RFC 6749 section 5.2) and a problem document. */
function failToken(error: unknown, request: Request, response: Response, deps: IngressDeps): void {
  const problem = toProblem(error, response, deps)
  const oauthCode = error instanceof OAuthError ? error.oauthCode : codeOf(problem.status)
  if (error instanceof OAuthError && error.isBasic && problem.status === 401) {
    response.setHeader('WWW-Authenticate', 'Basic realm="token", charset="UTF-8"')
  }
  if (problem.retryAfterSeconds !== null) response.setHeader('Retry-After', String(problem.retryAfterSeconds))
  response.status(problem.status).json({
    error: oauthCode,
    error_description: problem.message,
    ...problemDocument(problem, request, response, deps),
  })
}

function codeOf(status: number): string {
  if (status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}
