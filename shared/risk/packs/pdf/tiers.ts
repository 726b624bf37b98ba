import type { EvidenceTier } from '../../registries/connector.ts'
import { INK } from './ink.ts'

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

/** Shows an unknown tier unchanged. */
export function tierLabel(tier: string): string {
  return LABELS[tier] ?? tier
}

export interface TierCount {
  tier: EvidenceTier
  label: string
  count: number
}

/** Includes tiers with 0. */
export function countTiers(tiers: readonly string[]): TierCount[] {
  return TIERS.map((tier) => ({
    tier,
    label: tierLabel(tier),
    count: tiers.filter((one) => one === tier).length,
  }))
}

export function lowestTier(tiers: readonly string[]): string {
  return TIERS.findLast((tier) => tiers.includes(tier)) ?? tiers[0] ?? 'MISSING'
}

/** Draws an icon that works without colour: from full to an outline with a cross. */
export function drawTierIcon(doc: PDFKit.PDFDocument, tier: string, x: number, y: number, size: number): void {
  const steps = TIERS.length - 1
  const place = TIERS.map(String).indexOf(tier)
  const level = place < 0 ? 0 : steps - place
  const filled = (size * level) / steps
  doc.lineWidth(0.8).strokeColor(tier === 'MISSING' ? INK.warning : INK.accent)
  doc.rect(x, y, size, size).stroke()
  if (filled > 0) doc.rect(x, y + size - filled, size, filled).fill(INK.accent)
  else
    doc
      .moveTo(x, y)
      .lineTo(x + size, y + size)
      .moveTo(x + size, y)
      .lineTo(x, y + size)
      .stroke()
}
