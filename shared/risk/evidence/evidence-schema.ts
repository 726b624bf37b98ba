import { z } from 'zod'

const ConsentSchema = z.object({
  handle: z.string(),
  id: z.string().nullable(),
  purposeCode: z.string().nullable(),
  expiresAt: z.string().nullable(),
})

/** Where one value of a pack comes from. */
export const EvidenceEntrySchema = z.object({
  key: z.string(),
  source: z.string(),
  tier: z.string(),
  observedAt: z.string(),
  asOf: z.string().nullable(),
  consent: ConsentSchema.nullable(),
  rawSha256: z.string().nullable(),
  missingReason: z.string().nullable(),
  connectorVersion: z.string().nullable(),
  policyVersion: z.string(),
  finding: z.string().nullable(),
})

/** The answer of `GET /v1/po/risk-signals/packs/{packId}/evidence`. */
export const EvidenceSchema = z
  .object({
    packId: z.uuid(),
    generatedAt: z.string(),
    payloadSha256: z.string(),
    txId: z.string(),
    evidence: z.array(EvidenceEntrySchema),
  })
  .meta({ id: 'PackEvidence' })
