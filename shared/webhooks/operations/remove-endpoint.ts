import type { Knex } from 'knex'
import type { Actor } from '../../tenancy/actor.ts'
import type { Micros } from '../../time.ts'
import { closeEndpoint, type EndpointScope } from '../endpoint-store.ts'
import { lockEndpointOf } from './lock-endpoint.ts'
import { note } from './note.ts'

/** Deletes an endpoint; what it is still owed is cancelled. @throws NotFoundError */
export async function removeEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId }: { scope: EndpointScope; endpointId: string },
  { now }: { now(): Micros },
): Promise<void> {
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  await closeEndpoint(tx, endpoint.id, 'DELETED', now())
  await note(tx, actor, scope.organisationId, 'webhook.deleted', endpoint.url)
}
