import type { Knex } from 'knex'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Replay, replayDeliveries } from '../delivery-store.ts'
import type { EndpointScope } from '../endpoint-store.ts'
import { lockEndpointOf, requireActive } from './lock-endpoint.ts'
import { note } from './note.ts'

/** Deliveries released per second, so that an endpoint just repaired is not run over. */
export const REPLAY_PER_SECOND = 50
/** Deliveries of one request; more are asked for again. */
export const REPLAY_LIMIT = 5_000

/** `from` and `to` are instants of the events, null for no bound. */
export interface EndpointReplay
  extends Pick<Replay, 'from' | 'to' | 'states'>,
    Partial<Pick<Replay, 'perSecond' | 'limit'>> {
  scope: EndpointScope
  endpointId: string
}

/**
 * Makes deliveries of an active endpoint due again: the same events with the same bodies, in the order in which they
 * happened.
 * @returns how many; as many as the limit when there may be more
 * @throws NotFoundError; ConflictError while the endpoint is switched off
 */
export async function replayEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId, ...what }: EndpointReplay,
  { enqueue }: { enqueue: Enqueue },
): Promise<number> {
  const { id, url } = requireActive(await lockEndpointOf(tx, scope, endpointId))
  const pace = { perSecond: REPLAY_PER_SECOND, limit: REPLAY_LIMIT }
  const replayed = await replayDeliveries(tx, enqueue, { ...pace, ...what, endpointId: id })
  await note(tx, actor, scope.organisationId, 'webhook.replayed', url)
  return replayed
}
