import { INK } from './sheet.ts'
import { TIERS } from './tiers.ts'

/**
 * A square that says a tier by how far it is filled, in black and white too: full for what a registry confirms, down to
 * an outline with a cross for what is missing.
 */
export function drawTierMark(doc: PDFKit.PDFDocument, tier: string, x: number, y: number, size: number): void {
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
