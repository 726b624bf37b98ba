import { z } from 'zod'
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
      .meta({ description: 'the time until which the previous secret also signs' }),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'WebhookEndpoint' })

export const EndpointWithSecretSchema = EndpointSchema.extend({
  secret: z.string().meta({ description: 'whsec_ and base64; shown only once. The decoded base64 is the HMAC key.' }),
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
    status: z.int().nullable().meta({ description: 'status of the answer; null without an answer' }),
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

export const EmptyBody = z.strictObject({})
