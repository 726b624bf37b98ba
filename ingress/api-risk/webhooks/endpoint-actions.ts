import { z } from 'zod'
import { REPLAYABLE } from '#shared/webhooks/delivery-store.ts'
import { findEndpoint } from '#shared/webhooks/endpoint-store.ts'
import { REPLAY_LIMIT, replayEndpoint } from '#shared/webhooks/operations/deliveries.ts'
import { switchOffEndpoint, switchOnEndpoint, testEndpoint, urlRefusal } from '#shared/webhooks/operations/endpoints.ts'
import { found } from '#shared/webhooks/operations/lock-endpoint.ts'
import { InstantQuery } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { write } from '../risk-route.ts'
import { EmptyBody, EndpointSchema, endpointParam } from './schemas.ts'
import { endpointView } from './views.ts'

const common = { tags: ['Webhooks'], access: withScope('webhooks:manage') } as const
const params = { endpointId: endpointParam }

const Replayed = z.object({
  replayed: z.int().meta({ description: 'deliveries that are due again' }),
  complete: z.boolean().meta({ description: 'false if more remain: repeat the request' }),
})

const enable = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/enable',
  operationId: 'enableWebhookEndpoint',
  summary: 'Enable an endpoint',
  description:
    'Checks the address again and resets the failure count. With `releasePaused`, the stored events are sent in order and at a limited rate; without it they wait for a replay.',
  params,
  body: z.strictObject({ releasePaused: z.boolean().default(false) }),
  returns: EndpointSchema,
  async examine({ caller, params: { endpointId }, deps }) {
    const { url } = found(await findEndpoint(deps.db, caller, endpointId))
    return await urlRefusal(url, caller.env, deps)
  },
  async handle({ caller, params: { endpointId }, body, tx, enqueue }) {
    const wanted = { scope: caller, endpointId, releasePaused: body.releasePaused }
    return endpointView(await switchOnEndpoint(tx, caller.actor, wanted, { enqueue }))
  },
})

const disable = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/disable',
  operationId: 'disableWebhookEndpoint',
  summary: 'Disable an endpoint; its events are stored and can be replayed',
  params,
  body: EmptyBody,
  returns: EndpointSchema,
  async handle({ caller, params: { endpointId }, tx, deps }) {
    return endpointView(await switchOffEndpoint(tx, caller.actor, { scope: caller, endpointId }, deps))
  },
})

const test = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/test',
  operationId: 'testWebhookEndpoint',
  summary: 'Send an event `webhook.test` to this endpoint only',
  params,
  body: EmptyBody,
  returns: z.object({ eventId: z.uuid(), deliveryId: z.uuid() }),
  status: 202,
  async handle({ caller, params: { endpointId }, tx, enqueue, deps }) {
    return await testEndpoint(tx, caller.actor, { scope: caller, endpointId }, { enqueue, now: deps.now })
  },
})

const ReplayBody = z.strictObject({
  from: InstantQuery.optional(),
  to: InstantQuery.optional(),
  status: z
    .union([z.enum(REPLAYABLE), z.array(z.enum(REPLAYABLE)).min(1).max(REPLAYABLE.length)])
    .optional()
    .meta({ description: 'default FAILED, EXHAUSTED and SUPPRESSED; DELIVERED only if named' }),
})

const replay = write({
  ...common,
  isBodyOptional: true,
  path: '/v1/webhooks/endpoints/{endpointId}/replay',
  operationId: 'replayWebhookDeliveries',
  summary: 'Replay the events of a time range',
  description:
    'Sends the same events with the same bodies, in their original order, at most 50 per second. `from` and `to` are times of the events.',
  params,
  body: ReplayBody,
  returns: Replayed,
  status: 202,
  async handle({ caller, params: { endpointId }, body, tx, enqueue }) {
    const { from, to, status = ['FAILED', 'EXHAUSTED', 'SUPPRESSED'] } = body
    const states = typeof status === 'string' ? [status] : status
    const range = { from: from === undefined ? null : new Date(from), to: to === undefined ? null : new Date(to) }
    const what = { scope: caller, endpointId, ...range, states }
    const replayed = await replayEndpoint(tx, caller.actor, what, { enqueue })
    return { replayed, complete: replayed < REPLAY_LIMIT }
  },
})

export const endpointActionRoutes: readonly Route[] = [enable, disable, test, replay]
