import type { Scope } from '#shared/tenancy/oauth/families.ts'
import {
  authenticate,
  type Caller,
  limitAddress,
  limitCaller,
  limitVerification,
  requireScope,
} from '../middleware/access-token.ts'
import type { Access } from '../route.ts'

/** Holders of an access token with the scope: 401, then 403, then 429. */
export function withScope(scope: Scope): Access<{ caller: Caller }> {
  return {
    security: ['accessToken'],
    scopes: [scope],
    async admit(request, response, deps) {
      const caller = await authenticate(request, response, deps)
      requireScope(caller, scope, response)
      limitCaller(caller, scope, response, deps)
      return { caller }
    },
  }
}

/** Public access, limited by the lookups of an address. */
export const anyClient: Access<object> = {
  security: [],
  admit(request, response, deps) {
    limitAddress(request, response, deps)
    return {}
  },
}

/** Public access from pages of any origin, limited by the verifications of an address. */
export const publicVerification: Access<object> = {
  security: [],
  admit(request, response, deps) {
    response.setHeader('Access-Control-Allow-Origin', '*')
    limitVerification(request, response, deps)
    return {}
  },
}

/** The security schemes of `/v1`, by the names that its routes use. */
export const platformSecuritySchemes: Readonly<Record<string, object>> = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An access token of `POST /v1/oauth/token` that carries the scope which `security` of the operation names.',
  },
  agentKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An agent key (`rsk_…`), or an access token that was requested with `resource=<address>/mcp`.',
  },
  consumerKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The key of a securitisation-evidence consumer.',
  },
}
