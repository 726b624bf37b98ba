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

/**
 * Requires a consumer key: the `x-api-key` with which an organisation uses its securitisation evidence. The requests of
 * an address are limited, and idempotency keys belong to the organisation.
 */
export const consumerKeyAccess: Access<{ caller: ReceivableScope }> = {
  security: ['consumerKey'],
  async admit(request, response, deps) {
    limitAddress(request, response, deps)
    return { caller: await authenticateConsumer(request, response, deps) }
  },
}

/**
 * Returns the organisation and environment of the consumer key.
 * @throws UnauthorizedError for a missing, unknown or revoked key; ForbiddenError if the organisation is not entitled;
 * NotConfiguredError if the organisation of the access token has no consumer key, or without a token if no organisation
 * has one
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
