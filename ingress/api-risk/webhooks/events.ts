import { z } from 'zod'
import { listEvents } from '#shared/webhooks/event-store.ts'
import { EVENT_TYPES, OFFERED_EVENTS, readableEvents } from '#shared/webhooks/event-types.ts'
import { DEFAULT_PAGE, decodeCursor, encodeCursor, InstantQuery, PageQuery, paged } from '../../paging.ts'
import type { Route } from '../../route.ts'
import { withScope } from '../access.ts'
import { read } from '../risk-route.ts'
import { EventPayloadSchema } from './schemas.ts'

const common = { tags: ['Webhooks'], access: withScope('webhooks:manage') } as const

export const EventQuery = PageQuery.extend({
  event: z.string().max(100).optional().meta({ description: 'an exact event type' }),
  dealId: z.string().max(200).optional(),
})

export const EventCursor = z.tuple([InstantQuery, z.uuid()])

export function eventCursor({ occurredAt, id }: { id: string; occurredAt: Date }): string {
  return encodeCursor([occurredAt.toISOString(), id])
}

const listRoute = read({
  ...common,
  path: '/v1/webhooks/events',
  operationId: 'listWebhookEvents',
  summary: 'List the events of the organisation as they are sent, newest first',
  params: {},
  query: EventQuery,
  returns: z.object({ events: z.array(EventPayloadSchema), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db } }) {
    const limit = query.limit ?? DEFAULT_PAGE
    const before = decodeCursor(query.cursor, EventCursor)
    const rows = await listEvents(db, {
      organisationId: caller.organisationId,
      env: caller.env,
      type: query.event ?? null,
      readable: readableEvents(caller.families),
      dealId: query.dealId ?? null,
      before: before && { occurredAt: before[0], id: before[1] },
      limit: limit + 1,
    })
    const { page, nextCursor } = paged(rows, limit, eventCursor)
    return { events: page.map(({ body }) => JSON.parse(body)), nextCursor }
  },
})

const typesRoute = read({
  ...common,
  path: '/v1/webhooks/event-types',
  operationId: 'listWebhookEventTypes',
  summary: 'List the event types',
  params: {},
  returns: z.object({
    eventTypes: z.array(z.object({ event: z.string(), description: z.string() })),
    nextCursor: z.string().nullable(),
  }),
  async handle() {
    const eventTypes = Object.entries(EVENT_TYPES)
      .filter(([event]) => OFFERED_EVENTS.includes(event))
      .map(([event, description]) => ({ event, description }))
    return { eventTypes, nextCursor: null }
  },
})

export const eventRoutes: readonly Route[] = [listRoute, typesRoute]
