import { OFFERED_SCOPES } from '#shared/tenancy/oauth/families.ts'
import { defineRoute } from '../route.ts'

/** The public keys of access tokens. */
export const jwksRoute = defineRoute({
  method: 'get',
  path: '/v1/oauth/jwks',
  operationId: 'getJwks',
  summary: 'Public keys of access tokens',
  description: 'A JWK set (RFC 7517). A new key is published long before it signs.',
  tags: ['Authentication'],
  security: [],
  params: {},
  responses: { 200: { description: 'The key set', content: { 'application/json': null } } },
  async handle(_request, response, deps) {
    const keys = await deps.risk.keyRing.published()
    response.setHeader('Cache-Control', 'public, max-age=300')
    response.type('application/json').end(JSON.stringify({ keys }))
  },
})

/** RFC 8414. */
export const metadataRoute = defineRoute({
  method: 'get',
  path: '/.well-known/oauth-authorization-server',
  operationId: 'getAuthorizationServerMetadata',
  summary: 'Authorization server metadata',
  tags: ['Authentication'],
  security: [],
  params: {},
  responses: { 200: { description: 'Metadata (RFC 8414)', content: { 'application/json': null } } },
  handle(_request, response, deps) {
    const { issuer } = deps.risk
    response.setHeader('Cache-Control', 'public, max-age=300')
    response.json({
      issuer,
      token_endpoint: `${issuer}/v1/oauth/token`,
      jwks_uri: `${issuer}/v1/oauth/jwks`,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      scopes_supported: OFFERED_SCOPES,
      service_documentation: `${issuer}/docs`,
    })
  },
})
