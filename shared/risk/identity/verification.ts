import type { Factor } from './assurance.ts'

/** One verification of a subject, as it ended. */
export interface Verification extends Factor {
  id: string
  missingReason: string | null
  rawSha256: string | null
  presentationId: string | null
  consentId: string | null
  revokedAt: Date | null
}

/** Verifications that count: verified, and not withdrawn. */
export function factorsOf(verifications: readonly Verification[]): Verification[] {
  return verifications.filter(({ tier, revokedAt }) => tier !== 'MISSING' && revokedAt === null)
}

/** A verification as it is shown. */
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
