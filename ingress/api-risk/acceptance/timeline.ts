import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import type { Owner } from '#shared/jobs/job.ts'
import { ACCEPTANCE_ACTIONS, AcceptanceSchema, AdjustmentSchema } from '#shared/risk/acceptance/acceptance.ts'
import { listBuyerRequests } from '#shared/risk/acceptance/buyer-request-store.ts'
import { findTimeline } from '#shared/risk/acceptance/store.ts'
import { summaryOf } from '#shared/risk/acceptance/summary.ts'
import type { IngressDeps } from '../../deps.ts'
import { withScope } from '../access.ts'
import { read } from '../risk-route.ts'

/** A request to a buyer, as who made it sees it. */
export const RequestSchema = z
  .object({
    requestId: z.uuid(),
    receivableRef: z.string(),
    state: z.enum(['OPEN', 'ANSWERED', 'LOCKED', 'EXPIRED']),
    expiresAt: z.string(),
    sandboxUrl: z.string().optional().meta({ description: 'the buyer’s link; only in the sandbox' }),
  })
  .meta({ id: 'BuyerRequest' })

export const TimelineSchema = z
  .object({
    receivableRef: z.string(),
    records: z.array(AcceptanceSchema).meta({ description: 'in the order of their arrival' }),
    adjustments: z.array(AdjustmentSchema),
    requests: z.array(
      RequestSchema.pick({ requestId: true, state: true, expiresAt: true }).extend({
        acceptanceId: z.uuid().nullable().meta({ description: 'the record that the answer became' }),
      }),
    ),
    summary: z.object({
      action: z.enum(ACCEPTANCE_ACTIONS).nullable().meta({ description: 'of the record with the latest `at`' }),
      acceptedInr: z.number().nullable().meta({ description: 'null unless that action accepts' }),
      tier: z.string().nullable(),
      registryAction: z.enum(ACCEPTANCE_ACTIONS).nullable(),
      conflict: z.boolean().meta({ description: 'a registry said otherwise than a record' }),
      amountInr: z.number().nullable(),
      dilutedInr: z.number().nullable(),
      dilutionBps: z.int().nullable(),
      outstandingInr: z.number().nullable(),
    }),
  })
  .meta({ id: 'AcceptanceTimeline' })

export const timelineRoute = read({
  tags: ['Acceptance'],
  access: withScope('acceptance:read'),
  path: '/v1/acceptance/{receivableRef}',
  operationId: 'getAcceptanceTimeline',
  summary: 'What is recorded of a receivable, and what it comes to',
  params: {
    receivableRef: { pattern: '[^/]{1,300}', description: 'the organisation’s own reference', example: 'RCV-7' },
  },
  returns: TimelineSchema,
  handle: ({ caller, params: { receivableRef }, deps }) => readTimeline(deps, caller, receivableRef),
})

/** What is recorded of a receivable of the owner's, and what it comes to. @throws NotFoundError */
export async function readTimeline(
  { db }: Pick<IngressDeps, 'db'>,
  owner: Owner,
  receivableRef: string,
): Promise<z.output<typeof TimelineSchema>> {
  const timeline = await findTimeline(db, owner, receivableRef)
  const requests = await listBuyerRequests(db, owner, receivableRef)
  if (!timeline) throw new NotFoundError('nothing is recorded of this receivable')
  // Stored as we anchored them.
  const objects = (entries: readonly { body: string }[]) => entries.map(({ body }) => JSON.parse(body))
  return {
    receivableRef,
    records: objects(timeline.records),
    adjustments: objects(timeline.adjustments),
    requests,
    summary: summaryOf(timeline),
  }
}
