import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { z } from 'zod'
import { ConflictError } from '#shared/errors.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { REPLAYABLE, type Replay, replayDeliveries } from '#shared/webhooks/delivery-store.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'
import { closeEndpoint, enableEndpoint, findEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { TEST_EVENT } from '#shared/webhooks/event-types.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import { scheduleDelivery } from '#shared/webhooks/fan-out-store.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { InstantQuery } from '../paging.ts'
import { write } from '../risk-route.ts'
import { found, lockOwn } from './endpoints.ts'
import { EndpointSchema, endpointParam, NoBody } from './schemas.ts'
import { urlRefusal } from './target.ts'
import { endpointView } from './views.ts'

/** Deliveries released per second, so that an endpoint just repaired is not run over. */
const REPLAY_PER_SECOND = 50
/** Deliveries of one request; more are asked for again. */
const REPLAY_LIMIT = 5_000

const common = { tags: ['Webhooks'], access: withScope('webhooks:manage') } as const
const params = { endpointId: endpointParam }

const Replayed = z.object({
  replayed: z.int().meta({ description: 'deliveries that are due again' }),
  complete: z.boolean().meta({ description: 'false when there are more: ask again' }),
})

const enable = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/enable',
  operationId: 'enableWebhookEndpoint',
  summary: 'Switch an endpoint on',
  description:
    'Its address is checked again, and its failures are forgotten. With `releaseHeld` the events kept meanwhile are sent, in order and at a bounded rate; without it they wait for a replay.',
  params,
  body: z.strictObject({ releaseHeld: z.boolean().default(false) }),
  returns: EndpointSchema,
  async examine({ caller, params: { endpointId }, deps }) {
    const { url } = found(await findEndpoint(deps.db, caller, endpointId))
    return await urlRefusal(url, caller.env, deps)
  },
  async handle({ caller, params: { endpointId }, body, tx, enqueue }) {
    const endpoint = await lockOwn(tx, caller, endpointId)
    await enableEndpoint(tx, endpoint.id)
    if (body.releaseHeld) await release(tx, enqueue, endpoint, { from: null, to: null, states: ['SUPPRESSED'] })
    return endpointView({ ...endpoint, state: 'ACTIVE', reason: null, failures: 0 })
  },
})

const disable = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/disable',
  operationId: 'disableWebhookEndpoint',
  summary: 'Switch an endpoint off; events for it are kept and can be replayed',
  params,
  body: NoBody,
  returns: EndpointSchema,
  async handle({ caller, params: { endpointId }, tx, deps }) {
    const endpoint = await lockOwn(tx, caller, endpointId)
    await closeEndpoint(tx, endpoint.id, 'DISABLED', deps.now())
    return endpointView({ ...endpoint, state: 'DISABLED', reason: null })
  },
})

const test = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/test',
  operationId: 'testWebhookEndpoint',
  summary: 'Send an event `webhook.test` to this endpoint alone',
  params,
  body: NoBody,
  returns: z.object({ eventId: z.uuid(), deliveryId: z.uuid() }),
  status: 202,
  async handle({ caller, params: { endpointId }, tx, enqueue, deps }) {
    const endpoint = await lockOwn(tx, caller, endpointId)
    requireActive(endpoint)
    const occurredAt = new Date(deps.now() / 1000).toISOString()
    const event = {
      env: caller.env,
      organisationId: caller.organisationId,
      type: TEST_EVENT,
      dealId: endpoint.id,
      fields: ['endpointId'],
      occurredAt,
    }
    const { id: eventId } = await recordEvent(tx, enqueue, event)
    const deliveryId = randomUUID()
    await scheduleDelivery(tx, enqueue, { id: deliveryId, endpointId: endpoint.id, eventId })
    return { eventId, deliveryId }
  },
})

const ReplayBody = z.strictObject({
  from: InstantQuery.optional(),
  to: InstantQuery.optional(),
  status: z
    .union([z.enum(REPLAYABLE), z.array(z.enum(REPLAYABLE)).min(1).max(REPLAYABLE.length)])
    .optional()
    .meta({ description: 'FAILED, EXHAUSTED and SUPPRESSED unless said; DELIVERED only when asked for' }),
})

const replay = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/replay',
  operationId: 'replayWebhookDeliveries',
  summary: 'Send events of a range of time once more',
  description:
    'The same events with the same bodies, in the order in which they happened, at most 50 a second. `from` and `to` are instants of the events.',
  params,
  body: ReplayBody,
  returns: Replayed,
  status: 202,
  async handle({ caller, params: { endpointId }, body, tx, enqueue }) {
    const endpoint = await lockOwn(tx, caller, endpointId)
    requireActive(endpoint)
    const { from, to, status = ['FAILED', 'EXHAUSTED', 'SUPPRESSED'] } = body
    const states = typeof status === 'string' ? [status] : status
    const range = { from: from === undefined ? null : new Date(from), to: to === undefined ? null : new Date(to) }
    const replayed = await release(tx, enqueue, endpoint, { ...range, states })
    return { replayed, complete: replayed < REPLAY_LIMIT }
  },
})

async function release(
  tx: Knex,
  enqueue: Enqueue,
  { id: endpointId }: Endpoint,
  what: Pick<Replay, 'from' | 'to' | 'states'>,
): Promise<number> {
  return await replayDeliveries(tx, enqueue, {
    endpointId,
    ...what,
    perSecond: REPLAY_PER_SECOND,
    limit: REPLAY_LIMIT,
  })
}

/** @throws ConflictError since nothing is sent to an endpoint that is switched off */
export function requireActive({ state }: Endpoint): void {
  if (state !== 'ACTIVE') throw new ConflictError(`the endpoint is ${state}: enable it first`)
}

export const endpointActionRoutes: readonly Route[] = [enable, disable, test, replay]
