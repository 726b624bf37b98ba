import type { Scope } from '#shared/tenancy/oauth/families.ts'
import type { Access } from '../route.ts'
import {
  authenticate,
  type Caller,
  limitAddress,
  limitCaller,
  limitVerification,
  requireScope,
} from './authenticate.ts'

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

/** Everybody, as often as an address may look things up. */
export const anyClient: Access<object> = {
  security: [],
  admit(request, response, deps) {
    limitAddress(request, response, deps)
    return {}
  },
}

/** Everybody from pages of any origin, as often as an address may have something verified. */
export const publicVerification: Access<object> = {
  security: [],
  admit(request, response, deps) {
    response.setHeader('Access-Control-Allow-Origin', '*')
    limitVerification(request, response, deps)
    return {}
  },
}
