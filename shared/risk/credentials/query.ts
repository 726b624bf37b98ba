import { z } from 'zod'
import type { FieldCode } from '../../field-codes.ts'
import { rule } from '../../validation.ts'
import { line } from '../evidence/values.ts'

const COMPANY_BASIC = {
  credentials: [
    {
      id: 'company',
      format: 'dc+sd-jwt' as const,
      meta: { vct_values: ['https://credentials.example/company'] },
      claims: [{ path: ['legalName'] }, { path: ['gstin'] }],
    },
  ],
}

export const QUERY_TEMPLATES = { 'company-basic': COMPANY_BASIC } as const

const MAX_QUERY_BYTES = 16_384
/** Normalised claim names for an Aadhaar number. */
const AADHAAR_NAMES = new Set(['aadhaar', 'aadhaarnumber', 'uid'])

const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
const ids = z.array(id).min(1).max(30)

const pathPart = z
  .union([z.string().min(1).max(100), z.int().min(0).max(10_000), z.null()])
  .refine(
    (part) => typeof part !== 'string' || !AADHAAR_NAMES.has(part.toLowerCase().replaceAll(/[^a-z]/g, '')),
    rule('AADHAAR_NOT_ACCEPTED', 'must not request an Aadhaar number'),
  )

const ClaimsQuery = z.strictObject({
  id: id.optional(),
  path: z.array(pathPart).min(1).max(10),
  values: z
    .array(z.union([line(), z.int(), z.boolean()]))
    .min(1)
    .max(20)
    .optional(),
})

const CredentialQuery = z.strictObject({
  id,
  format: z
    .string()
    .refine((format): format is 'dc+sd-jwt' => format === 'dc+sd-jwt', rule('UNKNOWN_VALUE', 'must be dc+sd-jwt')),
  meta: z.strictObject({ vct_values: z.array(line(500)).min(1).max(10) }),
  claims: z.array(ClaimsQuery).min(1).max(30),
  claim_sets: z.array(ids).min(1).max(10).optional(),
  multiple: z.boolean().optional(),
  require_cryptographic_holder_binding: z
    .literal(true, { error: 'must be true: every presentation is bound to its holder' })
    .optional(),
})

const CredentialSet = z.strictObject({
  options: z.array(ids).min(1).max(10),
  required: z.boolean().optional(),
})

/** The supported DCQL (OpenID4VP 1.0 section 6; docs/spec/evidence-families.md#presentation-request). */
export const PresentationQuery = z
  .strictObject({
    credentials: z.array(CredentialQuery).min(1).max(5),
    credential_sets: z.array(CredentialSet).min(1).max(10).optional(),
  })
  .superRefine((query, ctx) => {
    const fault = (path: (string | number)[], code: FieldCode, message: string) =>
      ctx.addIssue({ code: 'custom', path, ...rule(code, message) })
    if (Buffer.byteLength(JSON.stringify(query)) > MAX_QUERY_BYTES) fault([], 'TOO_LARGE', 'must be at most 16 KiB')
    const known = new Set(query.credentials.map((credential) => credential.id))
    if (known.size !== query.credentials.length) fault(['credentials'], 'DUPLICATE', 'must have different ids')
    for (const [at, { claims, claim_sets: sets = [] }] of query.credentials.entries()) {
      const own = claims.flatMap((claim) => claim.id ?? [])
      if (new Set(own).size !== own.length) {
        fault(['credentials', at, 'claims'], 'DUPLICATE', 'must have different ids')
      }
      if (sets.flat().some((name) => !own.includes(name))) {
        fault(['credentials', at, 'claim_sets'], 'NOT_FOUND', 'must name ids of claims')
      }
    }
    const named = (query.credential_sets ?? []).flatMap(({ options }) => options.flat())
    if (named.some((name) => !known.has(name))) fault(['credential_sets'], 'NOT_FOUND', 'must name ids of credentials')
  })
  .meta({ id: 'PresentationQuery' })

export type PresentationQuery = z.output<typeof PresentationQuery>
export type CredentialQuery = PresentationQuery['credentials'][number]
export type ClaimsQuery = CredentialQuery['claims'][number]
