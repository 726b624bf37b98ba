import { z } from 'zod'
import type { ApiEnv } from '../../environment.ts'
import { rule } from '../../validation.ts'
import { amountInr, gstin, pastDay } from '../evidence/values.ts'
import { financialYear } from '../identifiers/financial-year.ts'
import { parsePaise } from '../packs/money.ts'
import type { ReceivableIdentity } from './fingerprint-input.ts'
import type { FinancingState } from './states.ts'

/** The members by which a receivable is described (docs/spec/evidence-families.md#first-financing). Leading zeros are legal outside e-invoicing. */
export const receivableShape = {
  supplierGstin: gstin,
  buyerGstin: gstin,
  documentType: z.enum(['INV', 'CRN', 'DBN']),
  documentNumber: z.string().regex(/^(?=.*[0-9A-Za-z])[0-9A-Za-z/-]{1,16}$/, {
    message: 'must be 1 to 16 letters, digits, slashes and hyphens, with a letter or a digit among them',
  }),
  documentDate: pastDay,
  totalInr: amountInr,
  financialYear: z
    .string()
    .regex(/^[0-9]{4}-[0-9]{2}$/, 'must be YYYY-YY')
    .optional(),
}

/** Adds an issue if supplier and buyer are one registration. */
export function checkParties(
  { supplierGstin, buyerGstin }: { supplierGstin: string; buyerGstin: string },
  ctx: z.core.$RefinementCtx,
): void {
  if (supplierGstin !== buyerGstin) return
  const message = 'must differ from supplierGstin'
  ctx.addIssue({ code: 'custom', path: ['buyerGstin'], ...rule('DUPLICATE_ROLE', message) })
}

/** Adds an issue if the parties are one registration, or the stated financial year is not the date's. */
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

/** A receivable by its fields, as a member of another body. */
export const ReceivableFields = z
  .strictObject(receivableShape)
  .superRefine(checkReceivable)
  .meta({ id: 'ReceivableFields' })

export type ReceivableFields = z.output<typeof ReceivableFields>

/** What a registration is kept with, sealed: shown to its owner alone. */
export interface SealedReceivable {
  /** null when it was made by fingerprints */
  fields: ReceivableFields | null
  /** the fingerprint that a record made without fields commits to, hex */
  rf1?: string
  lenderRef: string | null
  /** the salt of each commitment of its record */
  salts: Record<string, string>
}

export function identityOf(fields: ReceivableFields): ReceivableIdentity {
  const { supplierGstin, buyerGstin, documentType, documentNumber, documentDate, totalInr } = fields
  // The schema has refused what is no amount.
  const totalPaise = parsePaise(totalInr) ?? 0
  return { supplierGstin, buyerGstin, documentType, documentNumber, documentDate, totalPaise }
}

/** A registration of a receivable. */
export interface Registration {
  id: string
  organisationId: number
  env: ApiEnv
  state: FinancingState
  mode: 'FIELDS' | 'BLIND'
  dealId: string | null
  /** the fields with the salts of their commitments; null when it was made without fields */
  sealedReceivable: string | null
  /** days, `YYYY-MM-DD` */
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
