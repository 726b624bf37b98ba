import type { EvidenceTier } from '../../registries/connector.ts'

/** The tiers from what a registry confirms down to what is absent, in the order of every strip and legend. */
export const TIERS: readonly EvidenceTier[] = [
  'REGISTRY_VERIFIED',
  'LENDER_SIDE',
  'ISSUER_CONFIRMED',
  'DOCUMENT_SIGNED',
  'SELF_DECLARED',
  'MISSING',
]

const LABELS: Readonly<Record<string, string>> = {
  REGISTRY_VERIFIED: 'Registry verified',
  LENDER_SIDE: 'Lender side',
  ISSUER_CONFIRMED: 'Issuer confirmed',
  DOCUMENT_SIGNED: 'Document signed',
  SELF_DECLARED: 'Self-declared',
  MISSING: 'Missing',
}

/** A tier as people read it; one that a later version wrote is shown as it is. */
export function tierLabel(tier: string): string {
  return LABELS[tier] ?? tier
}

export interface TierCount {
  tier: EvidenceTier
  label: string
  count: number
}

/** How many values have each tier; every tier is listed, also with 0. */
export function countTiers(tiers: readonly string[]): TierCount[] {
  return TIERS.map((tier) => ({
    tier,
    label: tierLabel(tier),
    count: tiers.filter((one) => one === tier).length,
  }))
}

/** The lowest of some tiers; MISSING when there is none. */
export function lowestTier(tiers: readonly string[]): string {
  return TIERS.findLast((tier) => tiers.includes(tier)) ?? tiers[0] ?? 'MISSING'
}
