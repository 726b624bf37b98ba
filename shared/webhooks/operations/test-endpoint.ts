import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Micros, toIsoMillis } from '../../time.ts'
import type { EndpointScope } from '../endpoint-store.ts'
import { TEST_EVENT } from '../event-types.ts'
import { recordEvent } from '../events/store.ts'
import { scheduleDelivery } from '../fan-out-store.ts'
import { lockEndpointOf, requireActive } from './lock-endpoint.ts'
import { note } from './note.ts'

/**
 * Sends an event `webhook.test` to one endpoint alone.
 * @throws NotFoundError; ConflictError while the endpoint is switched off
 */
export async function testEndpoint(
  tx: Knex.Transaction,
  actor: Actor,
  { scope, endpointId }: { scope: EndpointScope; endpointId: string },
  { enqueue, now }: { enqueue: Enqueue; now(): Micros },
): Promise<{ eventId: string; deliveryId: string }> {
  const { id, url } = requireActive(await lockEndpointOf(tx, scope, endpointId))
  const occurredAt = toIsoMillis(now())
  const { organisationId, env } = scope
  const event = { env, organisationId, type: TEST_EVENT, dealId: id, fields: ['endpointId'], occurredAt }
  const { id: eventId } = await recordEvent(tx, enqueue, event)
  const deliveryId = randomUUID()
  await scheduleDelivery(tx, enqueue, { id: deliveryId, endpointId: id, eventId })
  await note(tx, actor, organisationId, 'webhook.tested', url)
  return { eventId, deliveryId }
}
