import { z } from 'zod'
import { amountInr, anchored, line, sha256Hex } from '../evidence/values.ts'
import { ReceivableFields } from '../first-financing/receivable.ts'
import { ADJUSTMENT_KINDS } from './dilution.ts'

export const ACCEPTANCE_ACTIONS = ['ACCEPTED', 'REJECTED', 'PENDING', 'DEEMED_ACCEPTED'] as const

export type AcceptanceAction = (typeof ACCEPTANCE_ACTIONS)[number]

/** Words of paths beside the references. */
const RESERVED = ['records', 'adjustments', 'requests']

const receivableRef = line().refine((text) => !RESERVED.includes(text) && !text.includes('/'), {
  params: { reason: 'RESERVED' },
  message: 'must be no word of the paths, and hold no slash',
})

const at = z.iso.datetime({ offset: true }).refine((text) => /^(?:19|20)[0-9]{2}-/.test(text), 'is out of range')

/** The body of a record. */
export const AcceptanceBody = z.strictObject({
  receivableRef,
  channel: z.enum(['IMS', 'TREDS', 'BUYER_PORTAL', 'SIGNED_DOCUMENT']),
  action: z.enum(ACCEPTANCE_ACTIONS),
  amountAccepted: amountInr.optional(),
  at,
  declaredBy: z.enum(['LENDER', 'SUPPLIER']).default('LENDER'),
  documentSha256: sha256Hex.optional(),
  receivable: ReceivableFields.optional(),
})

export type AcceptanceBody = z.output<typeof AcceptanceBody>

/** The body of an adjustment. */
export const AdjustmentBody = z.strictObject({
  receivableRef,
  kind: z.enum(ADJUSTMENT_KINDS),
  amountInr,
  at,
  reference: line().optional(),
  documentSha256: sha256Hex.optional(),
})

export type AdjustmentBody = z.output<typeof AdjustmentBody>

export const AcceptanceSchema = anchored({
  acceptanceId: z.uuid(),
  receivableRef: z.string(),
  channel: z.string(),
  action: z.enum(ACCEPTANCE_ACTIONS),
  amountAccepted: z.number().nullable(),
  at: z.string(),
  declaredBy: z.string(),
  documentSha256: z.string().nullable(),
  afterAcceptance: z.boolean(),
  tier: z.string(),
}).meta({ id: 'Acceptance' })

export const AdjustmentSchema = anchored({
  adjustmentId: z.uuid(),
  receivableRef: z.string(),
  kind: z.enum(ADJUSTMENT_KINDS),
  amountInr: z.number(),
  at: z.string(),
  documentSha256: z.string().nullable(),
}).meta({ id: 'AcceptanceAdjustment' })

/** What may follow what; the same again is stored and changes nothing (families 4). */
const FOLLOWS: Record<AcceptanceAction, readonly AcceptanceAction[]> = {
  PENDING: ['ACCEPTED', 'REJECTED', 'DEEMED_ACCEPTED'],
  ACCEPTED: ['REJECTED'],
  DEEMED_ACCEPTED: ['REJECTED', 'ACCEPTED'],
  REJECTED: ['ACCEPTED', 'PENDING'],
}

export function mayFollow(before: AcceptanceAction | null, action: AcceptanceAction): boolean {
  return before === null || before === action || FOLLOWS[before].includes(action)
}

/** Whether a rejection takes back what was accepted, or deemed so. */
export function isAfterAcceptance(before: AcceptanceAction | null, action: AcceptanceAction): boolean {
  return action === 'REJECTED' && (before === 'ACCEPTED' || before === 'DEEMED_ACCEPTED')
}

/** Where a record comes from: a registry that answers the same, else who declared it. */
export function acceptanceTier(
  { action, declaredBy }: Pick<AcceptanceBody, 'action' | 'declaredBy'>,
  registryAction: AcceptanceAction | null,
): 'REGISTRY_VERIFIED' | 'LENDER_SIDE' | 'SELF_DECLARED' {
  if (registryAction === action) return 'REGISTRY_VERIFIED'
  return declaredBy === 'LENDER' ? 'LENDER_SIDE' : 'SELF_DECLARED'
}
