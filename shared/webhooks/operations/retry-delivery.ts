import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Delivery, findDelivery, restartDelivery } from '../delivery-store.ts'
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
