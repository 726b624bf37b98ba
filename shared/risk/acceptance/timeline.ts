import { z } from 'zod'
import { ACCEPTANCE_ACTIONS, type AcceptanceAction, AcceptanceSchema, AdjustmentSchema } from './acceptance.ts'
import type { AdjustmentKind } from './dilution.ts'

export interface Timeline {
  records: { body: string; action: AcceptanceAction; registryAction: AcceptanceAction | null }[]
  adjustments: { body: string; kind: AdjustmentKind; paise: number }[]
  amountPaise: number | null
}

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
        acceptanceId: z.uuid().nullable().meta({ description: 'the record of the answer' }),
      }),
    ),
    summary: z.object({
      action: z.enum(ACCEPTANCE_ACTIONS).nullable().meta({ description: 'of the record with the latest `at`' }),
      acceptedInr: z.number().nullable().meta({ description: 'null unless that action accepts' }),
      tier: z.string().nullable(),
      registryAction: z.enum(ACCEPTANCE_ACTIONS).nullable(),
      conflict: z.boolean().meta({ description: 'a registry contradicts a record' }),
      amountInr: z.number().nullable(),
      dilutedInr: z.number().nullable(),
      dilutionBps: z.int().nullable(),
      outstandingInr: z.number().nullable(),
    }),
  })
  .meta({ id: 'AcceptanceTimeline' })
