import { z } from 'zod'
import { normalEmail } from '../../tenancy/accounts/roles.ts'
import { rule } from '../../validation.ts'
import { amountInr, anchored, line, sha256Hex } from '../evidence/values.ts'
import { ReceivableFields } from '../first-financing/receivable.ts'
import { parsePaise } from '../packs/money.ts'
import { ADJUSTMENT_KINDS } from './dilution.ts'

export const ACCEPTANCE_ACTIONS = ['ACCEPTED', 'REJECTED', 'PENDING', 'DEEMED_ACCEPTED'] as const

export type AcceptanceAction = (typeof ACCEPTANCE_ACTIONS)[number]

const RESERVED = ['records', 'adjustments', 'requests']
/** URL parsers remove these segments from a path, so such a record would be unreachable. */
const REMOVED = ['.', '..']

const receivableRef = line().refine(
  (text) => ![...RESERVED, ...REMOVED].includes(text) && !text.includes('/'),
  rule(
    'RESERVED',
    'must not be a dot, two dots or a reserved word (records, adjustments, requests), or contain a slash',
  ),
)

const at = z.iso
  .datetime({ offset: true })
  .refine((text) => /^(?:19|20)[0-9]{2}-/.test(text), rule('OUT_OF_RANGE', 'must be between the years 1900 and 2099'))

export const AcceptanceBody = z
  .strictObject({
    receivableRef,
    channel: z.enum(['IMS', 'TREDS', 'BUYER_PORTAL', 'SIGNED_DOCUMENT']),
    action: z.enum(ACCEPTANCE_ACTIONS),
    amountAccepted: amountInr.optional(),
    at,
    declaredBy: z.enum(['LENDER', 'SUPPLIER']).default('LENDER'),
    documentSha256: sha256Hex.optional(),
    signature: z
      .string()
      .max(4_000)
      .regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/, 'must be a compact JWS')
      .optional()
      .meta({ description: 'over documentSha256, by a trusted key of the buyer' }),
    receivable: ReceivableFields.optional(),
  })
  .superRefine((value, ctx) => {
    for (const name of ['documentSha256', 'receivable'] as const) {
      if (value.signature === undefined || value[name] !== undefined) continue
      const message = 'is required with a signature'
      ctx.addIssue({ code: 'custom', path: [name], ...rule('REQUIRED', message) })
    }
    if (value.receivable && isAboveAmount(value, parsePaise(value.receivable.totalInr) ?? 0)) {
      const message = 'must not be above totalInr of the receivable'
      ctx.addIssue({ code: 'custom', path: ['amountAccepted'], ...rule('TOO_LARGE', message) })
    }
  })

export type AcceptanceBody = z.output<typeof AcceptanceBody>

export const AdjustmentBody = z.strictObject({
  receivableRef,
  kind: z.enum(ADJUSTMENT_KINDS),
  amountInr,
  at,
  reference: line().optional(),
  documentSha256: sha256Hex.optional(),
})

export type AdjustmentBody = z.output<typeof AdjustmentBody>

export const BuyerRequestBody = z.strictObject({
  receivableRef,
  receivable: ReceivableFields,
  buyerEmail: z.string().transform((text, ctx) => {
    const email = normalEmail(text)
    if (email !== null && email === text.toLowerCase()) return email
    ctx.addIssue({ code: 'custom', ...rule('FORMAT', 'must be one plain e-mail address') })
    return z.NEVER
  }),
})

export type BuyerRequestBody = z.output<typeof BuyerRequestBody>

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
  signedBy: z.string().optional().meta({ description: 'thumbprint of the buyer’s key' }),
  requestId: z.uuid().optional().meta({ description: 'of the request that the buyer answered' }),
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

/** Successors of an action; repetitions have no effect (docs/spec/evidence-families.md#acceptance-records). */
const FOLLOWS: Record<AcceptanceAction, readonly AcceptanceAction[]> = {
  PENDING: ['ACCEPTED', 'REJECTED', 'DEEMED_ACCEPTED'],
  ACCEPTED: ['REJECTED'],
  DEEMED_ACCEPTED: ['REJECTED', 'ACCEPTED'],
  REJECTED: ['ACCEPTED', 'PENDING'],
}

export function mayFollow(before: AcceptanceAction | null, action: AcceptanceAction): boolean {
  return before === null || before === action || FOLLOWS[before].includes(action)
}

export function isAboveAmount(
  { action, amountAccepted }: { action: AcceptanceAction; amountAccepted?: number | null | undefined },
  amountPaise: number,
): boolean {
  if (action !== 'ACCEPTED' && action !== 'DEEMED_ACCEPTED') return false
  return (parsePaise(amountAccepted ?? 0) ?? 0) > amountPaise
}

export function isAfterAcceptance(before: AcceptanceAction | null, action: AcceptanceAction): boolean {
  return action === 'REJECTED' && (before === 'ACCEPTED' || before === 'DEEMED_ACCEPTED')
}

/** Tiers of records, strongest first. */
export const ACCEPTANCE_TIERS = [
  'REGISTRY_VERIFIED',
  'ISSUER_CONFIRMED',
  'DOCUMENT_SIGNED',
  'LENDER_SIDE',
  'SELF_DECLARED',
] as const

export type AcceptanceTier = (typeof ACCEPTANCE_TIERS)[number]

export interface Sources {
  /** from the invoice-action registry; null if not queried or unavailable */
  registryAction: AcceptanceAction | null
  /** thumbprint of the buyer's key that signed the document; null without a signature */
  signedBy: string | null
}

/** The strongest source of a record decides. */
export function acceptanceTier(
  { action, declaredBy }: { action: AcceptanceAction; declaredBy: 'LENDER' | 'SUPPLIER' | 'BUYER' },
  { registryAction, signedBy }: Sources,
): AcceptanceTier {
  if (registryAction === action) return 'REGISTRY_VERIFIED'
  if (declaredBy === 'BUYER') return 'ISSUER_CONFIRMED'
  if (signedBy !== null) return 'DOCUMENT_SIGNED'
  return declaredBy === 'LENDER' ? 'LENDER_SIDE' : 'SELF_DECLARED'
}
