import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Delivery, findDelivery, type Replay, replayDeliveries, restartDelivery } from '../delivery-store.ts'
import type { EndpointScope } from '../endpoint-store.ts'
import { lockEndpointOf, requireActive } from './lock-endpoint.ts'
import { note } from './note.ts'

const RETRYABLE: ReadonlySet<string> = new Set(['PENDING', 'FAILED', 'EXHAUSTED', 'SUPPRESSED'])

/** Whether a delivery can be tried again by itself; what was delivered is sent again only by a replay. */
export function isRetryable({ state }: Pick<Delivery, 'state'>): boolean {
  return RETRYABLE.has(state)
}

/** @throws NotFoundError alike for what does not exist and for what is another organisation's */
export function foundDelivery<D extends Delivery>(delivery: D | undefined): D {
  if (!delivery) throw new NotFoundError('there is no such delivery')
  return delivery
}

/**
 * Tries a delivery again now, with the whole schedule before it.
 * @param readable types of events that the actor may see; null is all
 * @throws NotFoundError; ConflictError when it is done, or its endpoint is switched off
 */
export async function retryDelivery(
  tx: Knex,
  actor: Actor,
  { scope, deliveryId, readable }: { scope: EndpointScope; deliveryId: string; readable: readonly string[] | null },
  { enqueue }: { enqueue: Enqueue },
): Promise<Delivery> {
  const { endpointId } = foundDelivery(await findDelivery(tx, scope, deliveryId, readable))
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  // Read again now that nobody else can change it.
  const delivery = foundDelivery(await findDelivery(tx, scope, deliveryId, readable))
  if (!isRetryable(delivery)) throw new ConflictError(`the delivery is ${delivery.state}`)
  requireActive(endpoint)
  await restartDelivery(tx, enqueue, delivery)
  await note(tx, actor, scope.organisationId, 'webhook.resent', `${delivery.eventType} ${deliveryId}`)
  return foundDelivery(await findDelivery(tx, scope, deliveryId, readable))
}

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
