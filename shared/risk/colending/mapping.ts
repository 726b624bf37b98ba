import { createHmac, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import type { Transform } from './transforms.ts'

/** What of the canonical contract a mapping fills, beside the event type. */
export type Target =
  | 'eventId'
  | 'dealId'
  | 'loanRef'
  | 'occurredAt'
  | 'amounts.principal'
  | 'amounts.interest'
  | 'amounts.outstanding'
  | 'dpd'
  | 'share.lender'
  | 'share.colender'

export interface FieldRule {
  target: Target
  /** paths in the record, the first that is present counts; `@name` is a header */
  from: readonly string[]
  transform: Transform
  /** the events for which the source means this by it; every event when absent */
  only?: readonly LoanEvent[]
}

/**
 * How one version of one source format becomes the canonical contract: data, so that it can be published, compared and
 * tried. A change of meaning is a new version beside the old one.
 */
export interface Mapping {
  /** name and version, `generic-envelope@1` */
  id: string
  sourceSystem: string
  sourceFormat: string
  description: string
  /** the record is of this format when all of these are present */
  recognisedBy: readonly string[]
  event: {
    /** paths whose values, joined by dots, name the source's event */
    from: readonly string[]
    /** normalised source event to ours; one that is missing here is not mapped */
    becomes: Readonly<Record<string, LoanEvent>>
  }
  fields: readonly FieldRule[]
}

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
    .meta({ description: 'ISO 8601 UTC time; a date if the source has no time; null if it has neither' }),
  amounts: z.object({ principal: amount, interest: amount, outstanding: amount }),
  dpd: z.int().nullable().meta({ description: 'days past due' }),
  share: z.object({ lender: amount, colender: amount }).meta({ description: 'percent' }),
  tier: z.literal('LENDER_SIDE'),
  unmapped: z
    .array(z.string())
    .meta({ description: 'names, never values, of columns that were not used or could not be read' }),
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

/**
 * What stands for a partner's loan reference: loan numbers are short and would be found by trying, so the hash is keyed,
 * and differs between organisations. 32 bytes.
 */
export function loanRefHash(key: Buffer | KeyObject, organisationId: number, loanRef: string): Buffer {
  return createHmac('sha256', key).update(`${organisationId}\u001f${loanRef}`, 'utf8').digest()
}
