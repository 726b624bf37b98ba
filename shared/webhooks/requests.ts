import { z } from 'zod'
import { rule } from '../validation.ts'
import { EVENT_TYPES, isEventFilter } from './event-types.ts'

const filters = z
  .array(
    z.string().refine((text) => isEventFilter(text), rule('UNKNOWN_VALUE', 'must be *, an event type or prefix.*')),
  )
  .min(1)
  .max(Object.keys(EVENT_TYPES).length)
  .meta({ description: 'event types, `prefix.*`, or `*`', examples: [['risk_signals.*']] })

const url = z.string().min(1).max(2000)

const description = z.string().max(200)

export const NewEndpointBody = z.strictObject({
  url,
  description: description.default(''),
  eventTypes: filters.default(['*']),
  ordered: z
    .boolean()
    .default(false)
    .meta({ description: 'one delivery at a time per dealId, in the order of the events' }),
})

export const EndpointChangeBody = z.strictObject({
  url: url.optional(),
  description: description.optional(),
  eventTypes: filters.optional(),
  ordered: z.boolean().optional(),
})
