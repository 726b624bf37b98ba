import type { Knex } from 'knex'
import type { Actor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import type { Endpoint } from '../endpoint.ts'
import { closeEndpoint, type EndpointScope } from '../endpoint-store.ts'
import { lockEndpointOf } from './lock-endpoint.ts'
import { note } from './note.ts'

/** Switches an endpoint off; events for it are kept and can be replayed. @throws NotFoundError */
export async function switchOffEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId }: { scope: EndpointScope; endpointId: string },
  { now }: { now(): Micros },
): Promise<Endpoint> {
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  await closeEndpoint(tx, endpoint.id, 'DISABLED', now())
  await note(tx, actor, scope.organisationId, 'webhook.disabled', endpoint.url)
  return { ...endpoint, state: 'DISABLED', reason: null }
}
