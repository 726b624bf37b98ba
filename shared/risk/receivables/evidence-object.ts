import { z } from 'zod'

const anchor = z.object({ network: z.string(), txId: z.string(), payloadSha256: z.string() })

/** The receivable of the securitisation API (docs/spec/evidence-families.md#securitisation). */
export const ReceivableSchema = z
  .object({
    receivableId: z.uuid(),
    poolId: z.uuid().nullable(),
    fingerprintRef: z.string().nullable(),
    supplierVei: z.string().nullable(),
    buyerVei: z.string().nullable(),
    amountInr: z.number().nullable(),
    currency: z.string(),
    issueDate: z.string().nullable(),
    dueDate: z.string().nullable(),
    irnPresent: z.boolean().nullable(),
    acceptance: z.string().nullable(),
    doubleFinancing: z.string().nullable(),
    evidence: z.array(
      z.object({ key: z.string(), tier: z.string(), observedAt: z.string(), rawSha256: z.string().nullable() }),
    ),
    eventType: z.string(),
    timestamp: z.string(),
    anchor,
  })
  .meta({ id: 'ReceivableEvidence' })

export type Receivable = z.output<typeof ReceivableSchema>

export const RECEIVABLE_EVENT_TYPE = 'receivable.recorded'
