import type { Factor } from './assurance.ts'

export interface Verification extends Factor {
  id: string
  missingReason: string | null
  rawSha256: string | null
  presentationId: string | null
  consentId: string | null
  revokedAt: Date | null
}

export function factorsOf(verifications: readonly Verification[]): Verification[] {
  return verifications.filter(({ tier, revokedAt }) => tier !== 'MISSING' && revokedAt === null)
}

export function verificationView(verification: Verification) {
  const { id, key, tier, missingReason, presentationId, consentId, observedAt, expiresAt, revokedAt } = verification
  return {
    verificationId: id,
    key,
    tier,
    missingReason,
    presentationId,
    consentId,
    observedAt: observedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
  }
}
