import { z } from 'zod'
import type { ApiEnv } from '../../environment.ts'
import { rule } from '../../validation.ts'
import { amountInr, gstin, pastDay } from '../evidence/values.ts'
import { financialYear } from '../identifiers/financial-year.ts'
import { parsePaise } from '../packs/money.ts'
import type { ReceivableIdentity } from './fingerprint-input.ts'
import type { FinancingState } from './states.ts'

/** Members of a receivable (docs/spec/evidence-families.md#first-financing); leading zeros are legal. */
export const receivableShape = {
  supplierGstin: gstin,
  buyerGstin: gstin,
  documentType: z.enum(['INV', 'CRN', 'DBN']),
  documentNumber: z.string().regex(/^(?=.*[0-9A-Za-z])[0-9A-Za-z/-]{1,16}$/, {
    message: 'must be 1 to 16 letters, digits, slashes and hyphens, with at least one letter or digit',
  }),
  documentDate: pastDay,
  totalInr: amountInr,
  financialYear: z
    .string()
    .regex(/^[0-9]{4}-[0-9]{2}$/, 'must be YYYY-YY')
    .optional(),
}

export function checkParties(
  { supplierGstin, buyerGstin }: { supplierGstin: string; buyerGstin: string },
  ctx: z.core.$RefinementCtx,
): void {
  if (supplierGstin !== buyerGstin) return
  const message = 'must differ from supplierGstin'
  ctx.addIssue({ code: 'custom', path: ['buyerGstin'], ...rule('DUPLICATE_ROLE', message) })
}

/** The parties must differ, and the financial year must be that of the date. */
export function checkReceivable(
  value: { supplierGstin: string; buyerGstin: string; documentDate: string; financialYear?: string | undefined },
  ctx: z.core.$RefinementCtx,
): void {
  checkParties(value, ctx)
  if (value.financialYear === undefined || value.financialYear === financialYear(value.documentDate)) return
  ctx.addIssue({
    code: 'custom',
    path: ['financialYear'],
    ...rule('NOT_OF_DATE', 'must be the financial year of documentDate'),
  })
}

export const ReceivableFields = z
  .strictObject(receivableShape)
  .superRefine(checkReceivable)
  .meta({ id: 'ReceivableFields' })

export type ReceivableFields = z.output<typeof ReceivableFields>

/** Only the owner sees these data. */
export interface SealedReceivable {
  /** null if registered by fingerprints */
  fields: ReceivableFields | null
  /** the committed fingerprint of a record without fields, hex */
  rf1?: string
  lenderRef: string | null
  /** the salt of each commitment of its record */
  salts: Record<string, string>
}

export function identityOf(fields: ReceivableFields): ReceivableIdentity {
  const { supplierGstin, buyerGstin, documentType, documentNumber, documentDate, totalInr } = fields
  // The schema has rejected other amounts.
  const totalPaise = parsePaise(totalInr) ?? 0
  return { supplierGstin, buyerGstin, documentType, documentNumber, documentDate, totalPaise }
}

export interface Registration {
  id: string
  organisationId: number
  env: ApiEnv
  state: FinancingState
  mode: 'FIELDS' | 'BLIND'
  dealId: string | null
  /** null without fields */
  sealedReceivable: string | null
  /** `YYYY-MM-DD` */
  dueDate: string | null
  financedOn: string | null
  renewals: number
  contested: boolean
  expiresAt: Date
  firstSeenAt: Date
  createdAt: Date
  /** the newest anchored object of its states, as JSON text */
  record: string
}
