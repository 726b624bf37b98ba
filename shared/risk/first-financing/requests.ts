import { z } from 'zod'
import { day, line, sha256Hex } from '../evidence/values.ts'
import { checkFinancialYear, ReceivableFields, receivableShape } from './receivable.ts'

/** The body of a check: the receivable's own members, and what is asked beside. */
export const CheckBody = z
  .strictObject({ ...receivableShape, window: z.boolean().default(false), statement: z.boolean().default(false) })
  .superRefine(checkFinancialYear)

/** A check as its worker gets it. */
export interface CheckRequest {
  receivable: ReceivableFields
  window: boolean
  statement: boolean
}

export const RegistrationRequestBody = z
  .strictObject({
    ...receivableShape,
    dueDate: day.optional(),
    dealId: line(100).optional(),
    lenderRef: line(100).optional(),
  })
  .superRefine(checkFinancialYear)

/** A registration as its worker gets it. */
export interface RegistrationBody {
  fields: ReceivableFields
  dueDate: string | null
  dealId: string | null
  lenderRef: string | null
}

export const AcceptBody = z.strictObject({
  transferToken: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be a transfer token'),
  receivable: ReceivableFields,
})

export type AcceptanceRequest = z.output<typeof AcceptBody>

export const DisputeRequestBody = z.strictObject({
  receivable: ReceivableFields,
  reason: line(),
  evidenceSha256: sha256Hex.optional(),
})

/** A dispute as its worker gets it. */
export interface DisputeBody {
  receivable: ReceivableFields
  reason: string
  evidenceSha256: string | null
}

/** The body of an action on a registration: nothing is needed. */
export const MoveBody = z.strictObject({
  financedOn: day.optional(),
  financedAmountInr: z.number().positive().max(1e13).optional(),
  reason: line().optional(),
})
