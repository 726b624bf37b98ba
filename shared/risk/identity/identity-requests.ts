import { z } from 'zod'
import { rule } from '../../validation.ts'
import { line, sha256Hex } from '../evidence/values.ts'
import { validatePan } from '../identifiers/pan.ts'

export const SubjectBody = z.strictObject({ externalRef: line(), kind: z.enum(['PERSON', 'BUSINESS']) })

const DEFAULT_PURPOSE = 'identity verification'

const PresentationMethod = z.strictObject({ method: z.literal('PRESENTATION'), presentationId: z.uuid() })

const DocumentMethod = z.strictObject({
  method: z.literal('DOCUMENT'),
  documentSha256: sha256Hex,
  signature: z
    .string()
    .max(20_000)
    .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'must be a compact JWS'),
})

const RegistryMethod = z
  .strictObject({
    method: z.literal('REGISTRY'),
    registry: z.enum(['PAN', 'CKYC']),
    identifier: line(50),
    consentId: z.uuid().optional(),
    purpose: line().default(DEFAULT_PURPOSE),
  })
  .superRefine(({ registry, identifier }, ctx) => {
    const isValid = registry === 'PAN' ? validatePan(identifier).valid : /^\d{14}$/.test(identifier)
    if (isValid) return
    const message = registry === 'PAN' ? 'must be a PAN' : 'must be 14 digits'
    ctx.addIssue({ code: 'custom', path: ['identifier'], ...rule('FORMAT', message) })
  })

export const IdentityVerificationBody = z.discriminatedUnion('method', [
  PresentationMethod,
  DocumentMethod,
  RegistryMethod,
])

export type IdentityVerificationRequest = z.output<typeof IdentityVerificationBody>
export type RegistryRequest = Extract<IdentityVerificationRequest, { method: 'REGISTRY' }>

export const TransitionBody = z.strictObject({
  to: z.enum(['UNVERIFIED', 'PENDING', 'VERIFIED', 'EXPIRED', 'SUSPENDED', 'REVOKED']),
  reason: line(),
  reasonCode: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be 1 to 64 capitals, digits or _')
    .default('UNSPECIFIED'),
})

export const IdentityPassportBody = z.strictObject({
  purpose: line(),
  validForDays: z.int().min(1).max(365).default(180),
})

export const ReasonBody = z.strictObject({ reason: line() })

export const ConsentBody = z.strictObject({
  subjectId: z.uuid(),
  purpose: line(),
  fields: z
    .array(z.string().regex(/^[A-Za-z][A-Za-z0-9_.]{0,63}$/, 'must be the name of a field'))
    .min(1)
    .max(50),
  expiresAt: z.iso.datetime({ offset: true }),
  noticeSha256: sha256Hex.optional(),
  obtainedVia: line(100).optional(),
})

export type ConsentRequest = z.output<typeof ConsentBody>

export const PassportVerifyBody = z.strictObject({
  passport: z.union([z.string().min(1).max(64_000), z.record(z.string(), z.unknown())]),
})
