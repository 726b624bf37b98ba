import type { Card, CardValue } from './card.ts'
import { drawEvidence } from './draw-evidence.ts'
import { INK } from './ink.ts'
import { gradeText } from './labels.ts'
import { CONTENT_WIDTH, PAGE, type Piece, type Sheet, STYLES } from './sheet.ts'
import { drawTierIcon, tierLabel } from './tiers.ts'

const LABEL_WIDTH = 94
/** Position of the second column of values; the first one fits a large amount with its words. */
const SECOND = 262
const GAP = 6

/** `columns` are equal on all cards. */
export function drawCard(
  sheet: Sheet,
  parent: PDFKit.PDFStructureElement,
  card: Card,
  columns: readonly number[],
): void {
  sheet.need(110)
  const section = sheet.group(parent, 'Sect')
  const { doc } = sheet
  const tier = { text: tierLabel(card.tier), style: card.tier === 'MISSING' ? missingStyle : STYLES.strong }
  const right = PAGE.width - PAGE.right
  const width = sheet.width(tier.style, tier.text)
  sheet.artifact(() => {
    doc.lineWidth(0.8).strokeColor(INK.rule)
    doc.moveTo(PAGE.left, sheet.y).lineTo(right, sheet.y).stroke()
    drawTierIcon(doc, card.tier, right - width - 14, sheet.y + 10, 8)
  })
  sheet.y += 8
  sheet.row(section, [
    { type: 'H2', text: card.title, style: STYLES.heading, x: PAGE.left, width: CONTENT_WIDTH - width - 24 },
    { type: 'P', ...tier, x: right - width, width },
  ])
  const detail = [card.detail, card.grade && `Question: ${gradeText(card.grade)}`]
  for (const [index, text] of detail.entries()) {
    if (!text) continue
    const style = index === 0 ? STYLES.body : STYLES.quiet
    sheet.row(section, [{ type: 'P', text, style, x: PAGE.left, width: CONTENT_WIDTH }])
  }
  if (card.values.length > 0) drawValues(sheet, section, card.values)
  drawEvidence(sheet, section, card.evidence, columns)
  sheet.y += 10
}

const missingStyle = { ...STYLES.strong, color: INK.warning }

function drawValues(sheet: Sheet, parent: PDFKit.PDFStructureElement, values: readonly CardValue[]): void {
  sheet.y += 2
  const table = sheet.group(parent, 'Table')
  for (let index = 0; index < values.length; ) {
    const [first, second] = values.slice(index, index + 2)
    if (!first) break
    const pair = second && [
      ...valuePieces(first, PAGE.left, SECOND - GAP),
      ...valuePieces(second, PAGE.left + SECOND, CONTENT_WIDTH - SECOND),
    ]
    // Values that exceed half the width get their own line.
    const isPair = pair?.every((piece) => piece.type === 'TH' || sheet.width(piece.style, piece.text) <= piece.width)
    sheet.row(sheet.group(table, 'TR'), isPair && pair ? pair : valuePieces(first, PAGE.left, CONTENT_WIDTH), 3)
    index += isPair ? 2 : 1
  }
}

function valuePieces({ label, value }: CardValue, x: number, width: number): (Piece & { type: string })[] {
  const isLong = value.length > 44 && !value.includes(' ')
  const style = isLong ? STYLES.mono : value === 'missing' ? missingStyle : STYLES.body
  return [
    { type: 'TH', text: label, style: STYLES.quiet, x, width: LABEL_WIDTH - GAP },
    { type: 'TD', text: value, style, x: x + LABEL_WIDTH, width: width - LABEL_WIDTH },
  ]
}
