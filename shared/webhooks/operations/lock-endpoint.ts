import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Endpoint } from '../endpoint.ts'
import { type EndpointScope, lockEndpoint } from '../endpoint-store.ts'

/** The same error for a missing endpoint and for one of another organisation. */
export function found(endpoint: Endpoint | undefined): Endpoint {
  if (!endpoint) throw new NotFoundError('endpoint not found')
  return endpoint
}

export async function lockEndpointOf(tx: Knex, scope: EndpointScope, id: string): Promise<Endpoint> {
  return found(await lockEndpoint(tx, scope, id))
}

export function requireActive(endpoint: Endpoint): Endpoint {
  const { state } = endpoint
  if (state !== 'ACTIVE') {
    const message = `the endpoint is ${state}: enable it first`
    throw new ConflictError(message, [{ path: 'endpointId', code: state, message }])
  }
  return endpoint
}
