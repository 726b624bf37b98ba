import type { Request, Response } from 'express'
import { ForbiddenError, NotConfiguredError, UnauthorizedError } from '#shared/errors.ts'
import { acrossTenants, enterTenant } from '#shared/platform/database/tenant.ts'
import { hasConsumerKey, type ReceivableScope } from '#shared/risk/receivables/store.ts'
import { findConsumer } from '#shared/tenancy/organisations/store.ts'
import type { IngressDeps } from '../../deps.ts'
import { authenticate, limitAddress } from '../../middleware/access-token.ts'
import type { Access } from '../../route.ts'

/** Longer than any key of ours: what is longer is not looked up. */
const MAX_KEY = 200

/** Holders of a consumer key, as often as an address may look things up. */
export const consumer: Access<{ consumer: ReceivableScope }> = {
  security: ['consumerKey'],
  async admit(request, response, deps) {
    limitAddress(request, response, deps)
    return { consumer: await authenticateConsumer(request, response, deps) }
  },
}

/** The same for what they change: idempotency keys are those of the organisation. */
export const consumerWriting: Access<{ caller: ReceivableScope }> = {
  security: ['consumerKey'],
  async admit(request, response, deps) {
    const { consumer: caller } = await consumer.admit(request, response, deps)
    return { caller }
  },
}

/**
 * Who asks for securitisation evidence, by `x-api-key`. A missing, unknown and revoked key look alike. That a key was
 * never provisioned can be said where it is known: of the organisation whose access token is sent along, or of everybody
 * when the service has no key at all.
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
