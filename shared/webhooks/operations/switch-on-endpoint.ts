import type { Knex } from 'knex'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { replayDeliveries } from '../delivery-store.ts'
import type { Endpoint } from '../endpoint.ts'
import { type EndpointScope, enableEndpoint } from '../endpoint-store.ts'
import { lockEndpointOf } from './lock-endpoint.ts'
import { note } from './note.ts'
import { REPLAY_LIMIT, REPLAY_PER_SECOND } from './replay-endpoint.ts'

/**
 * Switches an endpoint on, whose address was examined before, and forgets its failures. With `releasePaused` the events
 * kept meanwhile are sent, in order and at a bounded rate; without it they wait for a replay.
 * @throws NotFoundError
 */
export async function switchOnEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId, releasePaused }: { scope: EndpointScope; endpointId: string; releasePaused: boolean },
  { enqueue }: { enqueue: Enqueue },
): Promise<Endpoint> {
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  await enableEndpoint(tx, endpoint.id)
  if (releasePaused) {
    const held = { endpointId, from: null, to: null, states: ['SUPPRESSED'] } as const
    await replayDeliveries(tx, enqueue, { ...held, perSecond: REPLAY_PER_SECOND, limit: REPLAY_LIMIT })
  }
  await note(tx, actor, scope.organisationId, 'webhook.enabled', endpoint.url)
  return { ...endpoint, state: 'ACTIVE', reason: null, failures: 0 }
}
