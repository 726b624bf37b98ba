import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Endpoint } from '../endpoint.ts'
import { type EndpointScope, lockEndpoint } from '../endpoint-store.ts'

/** @throws NotFoundError alike for what does not exist and for what is another organisation's */
export function found(endpoint: Endpoint | undefined): Endpoint {
  if (!endpoint) throw new NotFoundError('there is no such endpoint')
  return endpoint
}

/** An endpoint of the scope, locked until the transaction ends. @throws NotFoundError */
export async function lockEndpointOf(tx: Knex, scope: EndpointScope, id: string): Promise<Endpoint> {
  return found(await lockEndpoint(tx, scope, id))
}

/** @throws ConflictError since nothing is sent to an endpoint that is switched off */
export function requireActive(endpoint: Endpoint): Endpoint {
  const { state } = endpoint
  if (state !== 'ACTIVE') throw new ConflictError(`the endpoint is ${state}: enable it first`)
  return endpoint
}
