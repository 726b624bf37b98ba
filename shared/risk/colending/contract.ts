import { z } from 'zod'

/** Event types of a loan or its charge in the canonical contract (docs/spec/evidence-families.md#lms-events). */
export const LOAN_EVENTS = [
  'loan.sanctioned',
  'loan.disbursed',
  'repayment.posted',
  'loan.rescheduled',
  'loan.delinquent',
  'loan.npa',
  'loan.written_off',
  'loan.closed',
  'charge.created',
  'charge.satisfied',
] as const
export type LoanEvent = (typeof LOAN_EVENTS)[number]

const amount = z.number().nullable()

/** What a mapping makes of a source record; what the record does not say is null. */
export const MappedRecordSchema = z.object({
  eventType: z.enum(LOAN_EVENTS),
  occurredAt: z
    .string()
    .nullable()
    .meta({ description: 'ISO 8601 UTC instant; a date where the source knows no more; null when it says nothing' }),
  amounts: z.object({ principal: amount, interest: amount, outstanding: amount }),
  dpd: z.int().nullable().meta({ description: 'days past due' }),
  share: z.object({ lender: amount, colender: amount }).meta({ description: 'percent' }),
  tier: z.literal('LENDER_SIDE'),
  unmapped: z.array(z.string()).meta({ description: 'names, never values, of what was not used or could not be read' }),
})
export type MappedRecord = z.output<typeof MappedRecordSchema>

/** The canonical evidence contract of one event, as it is anchored. */
export const EvidenceContractSchema = MappedRecordSchema.extend({
  contractId: z.uuid(),
  sourceSystem: z.string(),
  sourceFormat: z.string(),
  sourceRecordSha256: z.string(),
  loanRef: z.string().meta({ description: 'keyed hash of the partner’s loan reference, hex' }),
  timestamp: z.string().meta({ format: 'date-time', description: 'when it was received' }),
  anchor: z.object({ network: z.string(), txId: z.string(), payloadSha256: z.string() }),
}).meta({ id: 'LoanEvidenceContract' })
export type EvidenceContract = z.output<typeof EvidenceContractSchema>
