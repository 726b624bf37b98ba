import { z } from 'zod'
import { ForbiddenError } from '#shared/errors.ts'
import { day, gstin } from '#shared/risk/evidence/values.ts'
import { ReceivableFields } from '#shared/risk/first-financing/receivable.ts'
import { ensureSandboxKey } from '#shared/risk/invoice-keys/store.ts'
import { signDemoInvoice } from '#shared/risk/registries/sandbox/demo-invoices.ts'
import { listEvents, signedDeliveries } from '#shared/webhooks/event-store.ts'
import { readableEvents } from '#shared/webhooks/event-types.ts'
import { DEFAULT_PAGE, decodeCursor, paged } from '../paging.ts'
import { withScope } from './access.ts'
import { read, write } from './risk-route.ts'
import { EventCursor, EventQuery, eventCursor } from './webhooks/events.ts'
import { DeliveryStateSchema, EventPayloadSchema } from './webhooks/schemas.ts'

const InboxEntry = z
  .object({
    payload: EventPayloadSchema.meta({ description: 'the event, byte for byte as it is signed (RFC 8785)' }),
    deliveries: z.array(
      z.object({
        id: z.uuid(),
        endpointId: z.uuid(),
        url: z.string(),
        state: DeliveryStateSchema,
        headers: z
          .record(z.string(), z.string())
          .nullable()
          .meta({ description: 'as they would be sent; null until they are signed' }),
      }),
    ),
  })
  .meta({ id: 'SandboxInboxEntry' })

/** Unsent events of the sandbox, with the signing headers for each subscribed endpoint. */
export const sandboxInboxRoute = read({
  path: '/v1/sandbox/webhook-inbox',
  operationId: 'readSandboxInbox',
  summary: 'List the signed, unsent events of the sandbox, newest first',
  tags: ['Webhooks'],
  access: withScope('webhooks:manage'),
  params: {},
  query: EventQuery,
  returns: z.object({ events: z.array(InboxEntry), nextCursor: z.string().nullable() }),
  async handle({ caller, query, deps: { db } }) {
    if (caller.env !== 'SANDBOX') throw new ForbiddenError('only clients of the sandbox have an inbox')
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
    const signed = Map.groupBy(
      await signedDeliveries(
        db,
        page.map(({ id }) => id),
      ),
      ({ eventId }) => eventId,
    )
    const events = page.map(({ id, body }) => ({
      // The stored text is canonical JSON, so serialising it again gives the signed bytes.
      payload: JSON.parse(body),
      deliveries: (signed.get(id) ?? []).map(({ eventId: _, ...delivery }) => delivery),
    }))
    return { events, nextCursor }
  },
})

const InvoiceBody = z.strictObject({
  supplierGstin: gstin,
  buyerGstin: gstin,
  documentNumber: ReceivableFields.shape.documentNumber,
  documentDate: day,
  totalInr: ReceivableFields.shape.totalInr,
})

/** Signs a demo e-invoice like the portal, so that a receivable can be presented without an operator. */
export const sandboxInvoiceRoute = write({
  tags: ['Risk signals'],
  access: withScope('risk-signals:run'),
  path: '/v1/sandbox/e-invoices',
  operationId: 'signSandboxInvoice',
  summary: 'Sign a demo e-invoice; sandbox only',
  description:
    'Use the token in `eInvoices` of a pack request between the same parties. The document is not registered with any portal.',
  params: {},
  body: InvoiceBody,
  returns: z.object({ eInvoice: z.string() }),
  status: 201,
  async handle({ caller, body, tx, deps }) {
    if (caller.env !== 'SANDBOX') throw new ForbiddenError('demo e-invoices are signed in the sandbox only')
    const { supplierGstin: sellerGstin, ...rest } = body
    return { eInvoice: signDemoInvoice({ sellerGstin, ...rest }, await ensureSandboxKey(tx, deps.secrets)) }
  },
})
