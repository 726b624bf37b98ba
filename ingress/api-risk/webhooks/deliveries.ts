import { z } from 'zod'
import { findDelivery, listAttempts, listDeliveries } from '#shared/webhooks/delivery-store.ts'
import { findEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { readableEvents } from '#shared/webhooks/event-types.ts'
import { foundDelivery, retryDelivery } from '#shared/webhooks/operations/deliveries.ts'
import { found } from '#shared/webhooks/operations/lock-endpoint.ts'
import { DEFAULT_PAGE, PageQuery, paged, sealCursor, unsealCursor } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { read, write } from '../risk-route.ts'
import {
  AttemptSchema,
  DeliverySchema,
  DeliveryStateSchema,
  deliveryParam,
  EmptyBody,
  EventPayloadSchema,
  endpointParam,
} from './schemas.ts'
import { attemptView, deliveryView } from './views.ts'

const common = { tags: ['Webhooks'], access: withScope('webhooks:manage') } as const

const listRoute = read({
  ...common,
  path: '/v1/webhooks/endpoints/{endpointId}/deliveries',
  operationId: 'listWebhookDeliveries',
  summary: 'List the deliveries to an endpoint, newest first',
  params: { endpointId: endpointParam },
  query: PageQuery.extend({ status: DeliveryStateSchema.optional() }),
  returns: z.object({ deliveries: z.array(DeliverySchema), nextCursor: z.string().nullable() }),
  async handle({ caller, params: { endpointId }, query, deps: { db, secrets } }) {
    const endpoint = found(await findEndpoint(db, caller, endpointId))
    const limit = query.limit ?? DEFAULT_PAGE
    const before = unsealCursor(query.cursor, secrets)
    const state = query.status ?? null
    const readable = readableEvents(caller.families)
    const rows = await listDeliveries(db, endpoint.id, {
      state,
      before,
      limit: limit + 1,
      readable,
    })
    const { page, nextCursor } = paged(rows, limit, ({ seq }) => sealCursor(seq, secrets))
    return { deliveries: page.map(deliveryView), nextCursor }
  },
})

const readRoute = read({
  ...common,
  path: '/v1/webhooks/deliveries/{deliveryId}',
  operationId: 'getWebhookDelivery',
  summary: 'Get a delivery with its attempts and its body',
  params: { deliveryId: deliveryParam },
  returns: DeliverySchema.extend({ payload: EventPayloadSchema, attemptLog: z.array(AttemptSchema) }),
  async handle({ caller, params: { deliveryId }, deps: { db } }) {
    const delivery = foundDelivery(await findDelivery(db, caller, deliveryId, readableEvents(caller.families)))
    const attempts = await listAttempts(db, delivery.id)
    return {
      ...deliveryView(delivery),
      payload: JSON.parse(delivery.body),
      attemptLog: attempts.map((attempt) => attemptView(attempt, delivery.eventId)),
    }
  },
})

const retryRoute = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/deliveries/{deliveryId}/retry',
  operationId: 'retryWebhookDelivery',
  summary: 'Retry a delivery now, with the full retry schedule',
  description: 'A delivered event is not sent again: the answer is 409. Use a replay with status DELIVERED instead.',
  params: { deliveryId: deliveryParam },
  body: EmptyBody,
  returns: DeliverySchema,
  status: 202,
  async handle({ caller, params: { deliveryId }, tx, enqueue }) {
    const wanted = { scope: caller, deliveryId, readable: readableEvents(caller.families) }
    return deliveryView(await retryDelivery(tx, caller.actor, wanted, { enqueue }))
  },
})

export const deliveryRoutes: readonly Route[] = [listRoute, readRoute, retryRoute]
