import { createHmac, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import type { Transform } from './transforms.ts'

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
  /** paths in the record, of which the first present one is used; `@name` is a header */
  from: readonly string[]
  transform: Transform
  /** events to which the rule applies; default: all */
  only?: readonly LoanEvent[]
}

/** A change of meaning is a new version of a mapping. */
export interface Mapping {
  /** name and version, `generic-envelope@1` */
  id: string
  sourceSystem: string
  sourceFormat: string
  description: string
  /** a record with all of these has this format */
  recognisedBy: readonly string[]
  event: {
    /** paths whose values, joined by dots, name the source's event */
    from: readonly string[]
    /** maps a normalised source event to ours; others are not mapped */
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

/** 32 bytes; loan numbers are short, so an unkeyed hash could be guessed. */
export function loanRefHash(key: Buffer | KeyObject, organisationId: number, loanRef: string): Buffer {
  return createHmac('sha256', key).update(`${organisationId}\u001f${loanRef}`, 'utf8').digest()
}
