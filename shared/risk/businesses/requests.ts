import { z } from 'zod'
import { rule } from '../../validation.ts'
import { anchored, day, gstin, identifier, line } from '../evidence/values.ts'
import { validateCin, validateLlpin } from '../identifiers/company-number.ts'
import { validateUdyam } from '../identifiers/financial-year.ts'
import { validateLei } from '../identifiers/lei.ts'
import { validatePan } from '../identifiers/pan.ts'

/** A company number contains its year; accept the year that has begun in any time zone. */
const cin = identifier((text) => validateCin(text, { currentYear: new Date().getUTCFullYear() + 1 }))
const pan = identifier(validatePan)
const lei = identifier(validateLei)

const identifiers = {
  gstin: gstin.optional(),
  pan: pan.optional(),
  cin: cin.optional(),
  llpin: identifier(validateLlpin).optional(),
  lei: lei.optional(),
}

function needsOne(names: readonly string[]) {
  return (value: object, ctx: z.core.$RefinementCtx) => {
    if (names.some((name) => Reflect.get(value, name) !== undefined)) return
    const message = `or ${names.slice(1).join(' or ')} is required`
    ctx.addIssue({ code: 'custom', path: [names[0] ?? ''], ...rule('REQUIRED', message) })
  }
}

export const VerificationBody = z
  .strictObject({
    ...identifiers,
    udyam: identifier(validateUdyam).optional(),
    legalName: line().optional(),
    dealId: line(100).optional(),
  })
  .superRefine(needsOne(['gstin', 'cin', 'llpin', 'pan', 'udyam', 'lei']))

export type VerificationRequest = z.output<typeof VerificationBody>

export const ResolveBody = z.strictObject(identifiers).superRefine(needsOne(['gstin', 'pan', 'cin', 'llpin', 'lei']))

export const LeiResolveBody = z
  .strictObject({ cin: cin.optional(), legalName: line().optional() })
  .superRefine(needsOne(['cin', 'legalName']))

export const MembershipBody = z.strictObject({
  organisation: line(),
  role: line(100),
  action: z.enum(['JOIN', 'CHANGE', 'LEAVE']),
  effectiveOn: day.optional(),
})

export const OwnersBody = z
  .strictObject({
    owners: z
      .array(
        z.strictObject({
          name: line(),
          kind: z.enum(['PERSON', 'BUSINESS']),
          holdingBps: z.int().min(0).max(10_000),
          controlBasis: line(),
        }),
      )
      .min(1)
      .max(100),
  })
  .superRefine(({ owners }, ctx) => {
    if (owners.reduce((sum, { holdingBps }) => sum + holdingBps, 0) <= 10_000) return
    const message = 'must have holdings of at most 10000 basis points in total'
    ctx.addIssue({ code: 'custom', path: ['owners'], ...rule('SUM', message) })
  })

export const PassportBody = z.strictObject({
  purpose: line(),
  validForDays: z.int().min(1).max(365).default(180),
})

const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url')

/** P-256 or Ed25519, with only the required members of a public key. */
export const EntityJwk = z
  .discriminatedUnion('kty', [
    z.strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: coordinate, y: coordinate }),
    z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: coordinate }),
  ])
  .meta({ id: 'EntityJwk' })

export type EntityJwk = z.output<typeof EntityJwk>

export const EntityKeyBody = z.strictObject({ jwk: EntityJwk })

export const ErasureBody = z.strictObject({ reason: line() })

export const VerificationSchema = anchored({
  verificationId: z.uuid(),
  entityId: z.uuid().nullable(),
  vei: z.string().nullable(),
  checks: z.array(
    z.object({
      key: z.string(),
      tier: z.string(),
      result: z.enum(['MATCH', 'MISMATCH', 'MISSING']),
      detail: z.string(),
    }),
  ),
}).meta({ id: 'BusinessVerification' })
