import type { Request, Response } from 'express'
import { ForbiddenError, NotConfiguredError, UnauthorizedError } from '#shared/errors.ts'
import { acrossTenants, enterTenant } from '#shared/platform/database/tenant.ts'
import { hasConsumerKey, type ReceivableScope } from '#shared/risk/receivables/store.ts'
import { findConsumer } from '#shared/tenancy/organisations/store.ts'
import type { IngressDeps } from '../../deps.ts'
import { authenticate, limitAddress } from '../../middleware/access-token.ts'
import type { Access } from '../../route.ts'

/** Maximum length of a key; longer values are not looked up. */
const MAX_KEY = 200

/** Access for holders of a consumer key, limited by the lookups of an address. */
export const consumer: Access<{ consumer: ReceivableScope }> = {
  security: ['consumerKey'],
  async admit(request, response, deps) {
    limitAddress(request, response, deps)
    return { consumer: await authenticateConsumer(request, response, deps) }
  },
}

/** Access for their writes; idempotency keys belong to the organisation. */
export const consumerWriting: Access<{ caller: ReceivableScope }> = {
  security: ['consumerKey'],
  async admit(request, response, deps) {
    const { consumer: caller } = await consumer.admit(request, response, deps)
    return { caller }
  },
}

/**
 * Authenticates a consumer of securitisation evidence by `x-api-key`. A missing, unknown and revoked key look alike.
 * The error reports that no key is configured only if the organisation of the access token has none, or if the service
 * has none at all.
 * @throws UnauthorizedError, ForbiddenError, NotConfiguredError
 */
async function authenticateConsumer(request: Request, response: Response, deps: IngressDeps): Promise<ReceivableScope> {
  const key = request.headers['x-api-key']
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY) {
    const consumer = await acrossTenants(() => findConsumer(deps.db, deps.secrets.digests(key)))
    if (consumer) {
      if (!consumer.isEntitled) throw new ForbiddenError('the organisation is not entitled to securitisation evidence')
      enterTenant({ organisationId: consumer.organisationId })
      return { organisationId: consumer.organisationId, env: consumer.env }
    }
  }
  const caller = request.headers.authorization === undefined ? null : await authenticate(request, response, deps)
  if (!(await acrossTenants(() => hasConsumerKey(deps.db, caller)))) {
    throw new NotConfiguredError('no x-api-key is configured')
  }
  throw new UnauthorizedError('a valid x-api-key is required')
}
