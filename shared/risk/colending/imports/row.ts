import { z } from 'zod'
import { MappedRecordSchema } from '../mapping.ts'
import { OBSERVATIONS } from './import.ts'

const amount = z.number().nullable()

export const ReportedLoanSchema = MappedRecordSchema.extend({
  eventType: z.literal('loan.reported'),
  facts: z.object({
    assetClass: z.string().nullable(),
    fundedAmount: amount,
    interestRateBps: z.int().nullable(),
    principalRepaid: amount,
    reportedOn: z.string().nullable(),
    status: z.string().nullable().meta({ description: 'in the words of the source' }),
    termMonths: z.int().nullable(),
  }),
  observations: z
    .array(z.enum(OBSERVATIONS))
    .meta({ description: 'facts about the values: shares that do not add up, a share below 10 %, days past due' }),
})
export type ReportedLoan = z.output<typeof ReportedLoanSchema>

/** Its canonical JSON is a leaf of the import's tree. */
export const ImportRowSchema = ReportedLoanSchema.extend({
  contractId: z.string(),
  importId: z.uuid(),
  line: z.int().meta({ description: 'line in which the record begins; in bureau files its number' }),
  sourceSystem: z.string(),
  sourceFormat: z.string(),
  sourceRecordSha256: z.string().meta({
    description: 'SHA-256 of the record in the file, without the end of its line; in bureau files of the borrower',
  }),
  loanRef: z.string().meta({ description: 'keyed hash of the loan reference, hex' }),
  timestamp: z.string().meta({ format: 'date-time', description: 'when the file was received' }),
}).meta({ id: 'ImportRow' })
export type ImportRow = z.output<typeof ImportRowSchema>

export interface StoredRow {
  /** canonical JSON without `unmapped` */
  body: string
  /** names of columns with invalid cells */
  unread: string[]
}
