import type { Knex } from 'knex'
import type { Actor } from '../../tenancy/actor.ts'
import type { Endpoint } from '../endpoint.ts'
import { changeEndpoint, type EndpointChange, type EndpointScope } from '../endpoint-store.ts'
import { lockEndpointOf } from './lock-endpoint.ts'
import { note } from './note.ts'

/** Changes an endpoint, whose new address was examined before. @throws NotFoundError */
export async function editEndpoint(
  tx: Knex,
  actor: Actor,
  input: { scope: EndpointScope; endpointId: string; change: EndpointChange },
): Promise<Endpoint> {
  const { id } = await lockEndpointOf(tx, input.scope, input.endpointId)
  const changed = await changeEndpoint(tx, id, input.change)
  await note(tx, actor, input.scope.organisationId, 'webhook.changed', changed.url)
  return changed
}
