import { z } from 'zod'
import { EVENT_TYPES, isEventFilter } from '#shared/webhooks/event-types.ts'
import { idParam } from '../path-params.ts'

export const endpointParam = idParam('id of an endpoint')

export const deliveryParam = idParam('id of a delivery')

const instant = z.string().meta({ format: 'date-time' })

const EndpointStateSchema = z.enum(['ACTIVE', 'DISABLED', 'DISABLED_FAILING', 'BLOCKED'])
export const DeliveryStateSchema = z.enum([
  'PENDING',
  'DELIVERED',
  'FAILED',
  'EXHAUSTED',
  'SUPPRESSED',
  'SUPPRESSED_SANDBOX',
  'CANCELLED',
])

export const EndpointSchema = z
  .object({
    id: z.uuid(),
    url: z.string(),
    description: z.string(),
    eventTypes: z.array(z.string()),
    ordered: z.boolean(),
    mode: z.enum(['sandbox', 'live']),
    state: EndpointStateSchema,
    reason: z
      .enum(['FAILING', 'GONE', 'ADDRESS'])
      .nullable()
      .meta({ description: 'why the service switched it off; null otherwise' }),
    consecutiveFailures: z.int(),
    lastSuccessAt: instant.nullable(),
    previousSecretExpiresAt: instant
      .nullable()
      .meta({ description: 'until when the secret before the last rotation signs too' }),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'WebhookEndpoint' })

export const EndpointWithSecretSchema = EndpointSchema.extend({
  secret: z
    .string()
    .meta({ description: 'whsec_ and base64; shown this once. The HMAC key is what the base64 stands for.' }),
}).meta({ id: 'WebhookEndpointWithSecret' })

export const DeliverySchema = z
  .object({
    id: z.uuid(),
    endpointId: z.uuid(),
    eventId: z.uuid(),
    event: z.string(),
    dealId: z.string(),
    state: DeliveryStateSchema,
    attempts: z.int(),
    nextAttemptAt: instant.nullable(),
    createdAt: instant,
    finishedAt: instant.nullable(),
  })
  .meta({ id: 'WebhookDelivery' })

export const AttemptSchema = z
  .object({
    attempt: z.int(),
    startedAt: instant,
    durationMs: z.int().nullable(),
    outcome: z.enum(['delivered', 'failed', 'interrupted']),
    status: z.int().nullable().meta({ description: 'of the answer; null when there was none' }),
    failure: z.string().nullable().meta({ description: 'class of the failure, such as timeout, tls or status' }),
    requestHeaders: z.record(z.string(), z.string()),
  })
  .meta({ id: 'WebhookAttempt' })

export const EventPayloadSchema = z
  .object({
    id: z.uuid(),
    event: z.string(),
    mode: z.enum(['sandbox', 'live']),
    dealId: z.string(),
    occurredAt: instant,
    fields: z.array(z.string()),
    anchor: z.object({ network: z.string(), txId: z.string(), payloadSha256: z.string(), note: z.string() }),
  })
  .meta({ id: 'WebhookEvent' })

const filters = z
  .array(
    z.string().refine((text) => isEventFilter(text), {
      error: 'must be *, an event type or prefix.*',
      params: { reason: 'EVENT_TYPE' },
    }),
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

/** The body of a write that takes none. */
export const NoBody = z.strictObject({})

export const EndpointChangeBody = z.strictObject({
  url: url.optional(),
  description: description.optional(),
  eventTypes: filters.optional(),
  ordered: z.boolean().optional(),
})
