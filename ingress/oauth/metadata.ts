import { OFFERED_SCOPES } from '#shared/tenancy/oauth/families.ts'
import { OAuthError } from '#shared/tenancy/oauth/token-request.ts'
import { problemResponses } from '../problem-responses.ts'
import { DISCOVERY_HEADERS, defineRoute } from '../route.ts'

const AUTHORIZE_PATH = '/v1/oauth/authorize'

export const jwksRoute = defineRoute({
  method: 'get',
  path: '/v1/oauth/jwks',
  operationId: 'getJwks',
  summary: 'Get the public keys of access tokens',
  description: 'A JWK set (RFC 7517). A new key is published before it signs the first token.',
  tags: ['Authentication'],
  security: [],
  params: {},
  responses: { 200: { description: 'The key set', content: { 'application/json': null } } },
  async handle(_request, response, deps) {
    const keys = await deps.risk.keyRing.published()
    response.set(DISCOVERY_HEADERS)
    response.type('application/json').end(JSON.stringify({ keys }))
  },
})

/** RFC 8414. */
export const metadataRoute = defineRoute({
  method: 'get',
  path: '/.well-known/oauth-authorization-server',
  operationId: 'getAuthorizationServerMetadata',
  summary: 'Get the authorization server metadata',
  tags: ['Authentication'],
  security: [],
  params: {},
  responses: { 200: { description: 'Metadata (RFC 8414)', content: { 'application/json': null } } },
  handle(_request, response, deps) {
    const { issuer } = deps.risk
    response.set(DISCOVERY_HEADERS)
    // Client libraries require the members of the authorization code flow for every grant (RFC 8414 section 2).
    response.json({
      issuer,
      authorization_endpoint: `${issuer}${AUTHORIZE_PATH}`,
      token_endpoint: `${issuer}/v1/oauth/token`,
      jwks_uri: `${issuer}/v1/oauth/jwks`,
      grant_types_supported: ['client_credentials'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      scopes_supported: OFFERED_SCOPES,
      service_documentation: `${issuer}/docs`,
    })
  },
})

/** Refuses every request: the metadata must name this endpoint, but no user signs in here. */
export const authorizeRoute = defineRoute({
  method: 'get',
  path: AUTHORIZE_PATH,
  operationId: 'authorize',
  summary: 'Authorization endpoint',
  description: 'Answers 400: the only grant is client credentials, at the token endpoint.',
  tags: ['Authentication'],
  security: [],
  params: {},
  responses: problemResponses(400),
  handle() {
    throw new OAuthError(
      'invalid_request',
      'no user signs in here; use the grant client_credentials at /v1/oauth/token',
    )
  },
})
