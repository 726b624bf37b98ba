import { z } from 'zod'
import type { RegistryResult } from '../registries/connector.ts'
import type { LeiRecord } from '../registries/registry-data.ts'
import { nameSimilarity } from './entity.ts'

export interface LeiRequest {
  lei?: string | undefined
  cin?: string | undefined
  legalName?: string | undefined
}

export const LeiAnswerSchema = z
  .object({
    lei: z.string().nullable(),
    legalName: z.string().nullable(),
    entityStatus: z.string().nullable(),
    registrationStatus: z.string().nullable(),
    registeredAs: z.string().nullable(),
    nextRenewalDate: z.string().nullable(),
    matchBasis: z.enum(['LEI', 'REGISTERED_AS', 'NAME']),
    similarityPermille: z.int().nullable(),
    missingReason: z.string().nullable(),
    observedAt: z.string(),
  })
  .meta({ id: 'LeiRecord' })

/**
 * The register's name filter matches prefixes, so candidates are ordered by our similarity, ties by identifier
 * (docs/spec/evidence-families.md#business-checks). Without a match the members are null, with a reason.
 */
export function leiAnswer(request: LeiRequest, result: RegistryResult<LeiRecord[]>): z.output<typeof LeiAnswerSchema> {
  const { lei, cin, legalName } = request
  const matchBasis = lei !== undefined ? 'LEI' : cin !== undefined ? 'REGISTERED_AS' : 'NAME'
  const candidates = (result.data ?? [])
    .map((record) => ({
      record,
      permille: legalName === undefined ? null : nameSimilarity(record.legalName, legalName),
    }))
    // A name that consists of legal forms has no similarity.
    .filter(({ permille }) => matchBasis !== 'NAME' || permille !== null)
    .toSorted((a, b) => (b.permille ?? 0) - (a.permille ?? 0) || (a.record.lei < b.record.lei ? -1 : 1))
  const [best] = candidates
  const { observedAt } = result
  if (!best) {
    const none = { lei: null, legalName: null, entityStatus: null, registrationStatus: null, registeredAs: null }
    const missingReason = result.missingReason ?? 'NOT_FOUND'
    return { ...none, nextRenewalDate: null, matchBasis, similarityPermille: null, missingReason, observedAt }
  }
  const { jurisdiction: _where, registeredAt: _register, ...record } = best.record
  return { ...record, matchBasis, similarityPermille: best.permille, missingReason: null, observedAt }
}
