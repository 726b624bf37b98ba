import { z } from 'zod'
import { rule } from '../../validation.ts'
import { amountInr, checkDueDate, dueDay, line, pastDay, sha256Hex } from '../evidence/values.ts'
import { checkReceivable, ReceivableFields, receivableShape } from './receivable.ts'
import { type ReceivableInput, requestFingerprints } from './request-fingerprints.ts'

/** Maximum number of elements in one request (docs/spec/evidence-families.md#first-financing). */
const MAX_ELEMENTS = 64

const commonOptions = { statement: z.boolean().default(false) }

export const CheckBody = z
  .strictObject({ ...receivableShape, window: z.boolean().default(false), ...commonOptions })
  .superRefine(checkReceivable)

/** Excludes `window`, which needs further fingerprints. */
export const BlindCheckBody = z.strictObject({ fingerprints: requestFingerprints, ...commonOptions })

export interface CheckRequest {
  receivable: ReceivableInput
  window: boolean
  statement: boolean
}

const registeredBeside = { dueDate: dueDay.optional(), dealId: line(100).optional(), lenderRef: line(100).optional() }

export const RegistrationRequestBody = z
  .strictObject({ ...receivableShape, ...registeredBeside })
  .superRefine(checkReceivable)
  .superRefine(checkDueDate)

export const BlindRegistrationBody = z.strictObject({ fingerprints: requestFingerprints, ...registeredBeside })

export interface RegistrationBody {
  fields: ReceivableInput
  dueDate: string | null
  dealId: string | null
  lenderRef: string | null
}

const transferToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be a transfer token')

export const AcceptBody = z.strictObject({ transferToken, receivable: ReceivableFields })

export const BlindAcceptBody = z.strictObject({ transferToken, fingerprints: requestFingerprints })

export interface AcceptanceRequest {
  transferToken: string
  receivable: ReceivableInput
}

const disputedBeside = { reason: line(), evidenceSha256: sha256Hex.optional() }

export const DisputeRequestBody = z.strictObject({ receivable: ReceivableFields, ...disputedBeside })

export const BlindDisputeBody = z.strictObject({ fingerprints: requestFingerprints, ...disputedBeside })

export interface DisputeBody {
  receivable: ReceivableInput
  reason: string
  evidenceSha256: string | null
}

const ofSnapshot = { snapshotId: z.uuid().optional() }

export const AbsenceBody = z.strictObject({ receivable: ReceivableFields, ...ofSnapshot })

export const BlindAbsenceBody = z.strictObject({ fingerprints: requestFingerprints, ...ofSnapshot })

/** 32 bytes in hex each; a worker checks that they are elements. */
export const EvaluationBody = z.strictObject({
  epoch: z.int().min(2),
  blinded: z
    .array(
      z
        .string()
        .refine((text) => /^[0-9a-f]{64}$/.test(text), rule('POINT_INVALID', 'must be 64 lower-case hex characters')),
    )
    .min(1)
    .max(MAX_ELEMENTS),
})

export type EvaluationRequest = z.output<typeof EvaluationBody>

export interface AbsenceRequest {
  receivable: ReceivableInput
  /** null for the newest */
  snapshotId: string | null
}

export const MoveBody = z.strictObject({
  financedOn: pastDay.optional(),
  financedAmountInr: amountInr.optional(),
  reason: line().optional(),
})

export function receivableOf(
  body: { receivable: ReceivableFields } | { fingerprints: z.output<typeof requestFingerprints> },
): ReceivableInput {
  return 'receivable' in body ? body.receivable : { fingerprints: body.fingerprints }
}
