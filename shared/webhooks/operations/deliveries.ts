import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Delivery, findDelivery, type Replay, replayDeliveries, restartDelivery } from '../delivery-store.ts'
import type { EndpointScope } from '../endpoint-store.ts'
import { lockEndpointOf, requireActive } from './lock-endpoint.ts'
import { note } from './note.ts'

const RETRYABLE: ReadonlySet<string> = new Set(['PENDING', 'FAILED', 'EXHAUSTED', 'SUPPRESSED'])

/** Returns false for a delivered event, which only a replay sends again. */
export function isRetryable({ state }: Pick<Delivery, 'state'>): boolean {
  return RETRYABLE.has(state)
}

/** @throws NotFoundError, the same for a missing delivery and for one of another organisation */
export function foundDelivery<D extends Delivery>(delivery: D | undefined): D {
  if (!delivery) throw new NotFoundError('delivery not found')
  return delivery
}

/** @param readable null for all event types @throws NotFoundError; ConflictError if it has ended or the endpoint is inactive */
export async function retryDelivery(
  tx: Knex,
  actor: Actor,
  { scope, deliveryId, readable }: { scope: EndpointScope; deliveryId: string; readable: readonly string[] | null },
  { enqueue }: { enqueue: Enqueue },
): Promise<Delivery> {
  const { endpointId } = foundDelivery(await findDelivery(tx, scope, deliveryId, readable))
  const endpoint = await lockEndpointOf(tx, scope, endpointId)
  const delivery = foundDelivery(await findDelivery(tx, scope, deliveryId, readable))
  if (!isRetryable(delivery)) {
    const message = `the delivery is ${delivery.state}`
    throw new ConflictError(message, [{ path: 'deliveryId', code: delivery.state, message }])
  }
  requireActive(endpoint)
  await restartDelivery(tx, enqueue, delivery)
  await note(tx, actor, scope.organisationId, 'webhook.resent', `${delivery.eventType} ${deliveryId}`)
  return foundDelivery(await findDelivery(tx, scope, deliveryId, readable))
}

/** Default rate of a replay. */
export const REPLAY_PER_SECOND = 50
/** Maximum number of deliveries that one replay sends (docs/spec/transparency.md#webhook-endpoints). */
export const REPLAY_LIMIT = 5_000

/** `from` and `to` limit the instants of the events; null for no bound. */
export interface EndpointReplay
  extends Pick<Replay, 'from' | 'to' | 'states'>,
    Partial<Pick<Replay, 'perSecond' | 'limit'>> {
  scope: EndpointScope
  endpointId: string
}

/** Returns the number of replayed deliveries; if it equals the limit, more may remain. @throws NotFoundError; ConflictError for an inactive endpoint */
export async function replayEndpoint(
  tx: Knex,
  actor: Actor,
  { scope, endpointId, ...selection }: EndpointReplay,
  { enqueue }: { enqueue: Enqueue },
): Promise<number> {
  const { id, url } = requireActive(await lockEndpointOf(tx, scope, endpointId))
  const limits = { perSecond: REPLAY_PER_SECOND, limit: REPLAY_LIMIT }
  const replayed = await replayDeliveries(tx, enqueue, { ...limits, ...selection, endpointId: id })
  await note(tx, actor, scope.organisationId, 'webhook.replayed', url)
  return replayed
}
