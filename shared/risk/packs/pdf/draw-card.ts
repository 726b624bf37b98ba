import type { Card, CardEvidence, CardValue } from './card.ts'
import { gradeText, missingText, sourceName } from './evidence-words.ts'
import { instantText } from './figures.ts'
import { CONTENT_WIDTH, INK, line, PAGE, type Piece, type Sheet, STYLES } from './sheet.ts'
import { drawTierMark } from './tier-mark.ts'
import { tierLabel } from './tiers.ts'

const HALF = CONTENT_WIDTH / 2
const LABEL_WIDTH = 100
/** Longer values get a line of their own. */
const SHORT_VALUE = 30

/** One signal: its question and tier, what was found, the values, and where each comes from. */
export function drawCard(sheet: Sheet, parent: PDFKit.PDFStructureElement, card: Card): void {
  sheet.need(110)
  const section = sheet.group(parent, 'Sect')
  const { doc } = sheet
  const tier = { text: tierLabel(card.tier), style: card.tier === 'MISSING' ? missingStyle : STYLES.strong }
  const right = PAGE.width - PAGE.right
  // Rounded up: a width that just fits would break the line.
  const width = Math.ceil(line(doc, tier.style, tier.text).width) + 1
  sheet.artifact(() => {
    doc.lineWidth(0.8).strokeColor(INK.rule)
    doc.moveTo(PAGE.left, sheet.y).lineTo(right, sheet.y).stroke()
    drawTierMark(doc, card.tier, right - width - 14, sheet.y + 8, 8)
  })
  sheet.y += 8
  sheet.row(section, [
    { type: 'H2', text: card.title, style: STYLES.heading, x: PAGE.left, width: CONTENT_WIDTH - width - 24 },
    { type: 'P', ...tier, x: right - width, width },
  ])
  const detail = [card.detail, card.grade && `Question class: ${gradeText(card.grade)}`]
  for (const [index, text] of detail.entries()) {
    if (!text) continue
    const style = index === 0 ? STYLES.body : STYLES.quiet
    sheet.row(section, [{ type: 'P', text, style, x: PAGE.left, width: CONTENT_WIDTH }])
  }
  if (card.values.length > 0) drawValues(sheet, section, card.values)
  drawEvidence(sheet, section, card.evidence)
  sheet.y += 10
}

const missingStyle = { ...STYLES.strong, color: INK.warning }

function drawValues(sheet: Sheet, parent: PDFKit.PDFStructureElement, values: readonly CardValue[]): void {
  sheet.y += 2
  const table = sheet.group(parent, 'Table')
  for (let index = 0; index < values.length; ) {
    const [first, second] = values.slice(index, index + 2)
    if (!first) break
    const isPair = second && first.value.length <= SHORT_VALUE && second.value.length <= SHORT_VALUE
    const row = sheet.group(table, 'TR')
    const left = valuePieces(first, PAGE.left, isPair ? HALF - 4 : CONTENT_WIDTH)
    sheet.row(row, isPair ? [...left, ...valuePieces(second, PAGE.left + HALF, HALF)] : left, 3)
    index += isPair ? 2 : 1
  }
}

function valuePieces({ label, value }: CardValue, x: number, width: number): (Piece & { type: string })[] {
  const isLong = value.length > 44 && !value.includes(' ')
  const style = isLong ? STYLES.mono : value === 'missing' ? missingStyle : STYLES.body
  return [
    { type: 'TH', text: label, style: STYLES.quiet, x, width: LABEL_WIDTH - 6 },
    { type: 'TD', text: value, style, x: x + LABEL_WIDTH, width: width - LABEL_WIDTH },
  ]
}

const COLUMNS = [
  { title: 'Value', width: 92 },
  { title: 'Tier', width: 126 },
  { title: 'Source', width: 96 },
  { title: 'As of', width: 102 },
  { title: 'Consent', width: CONTENT_WIDTH - 416 },
] as const

function drawEvidence(sheet: Sheet, parent: PDFKit.PDFStructureElement, evidence: readonly CardEvidence[]): void {
  if (evidence.length === 0) return
  sheet.y += 4
  const table = sheet.group(parent, 'Table')
  drawCells(
    sheet,
    table,
    'TH',
    COLUMNS.map(({ title }) => title),
  )
  for (const entry of evidence) {
    const isMissing = entry.tier === 'MISSING'
    drawCells(sheet, table, 'TD', [
      entry.label,
      isMissing ? missingText(entry.missingReason ?? null) : tierLabel(entry.tier),
      sourceName(entry.source),
      instantText(entry.asOf ?? entry.observedAt),
      entry.consent ? consentText(entry.consent) : '—',
    ])
  }
}

function consentText({ handle, expiresAt }: NonNullable<CardEvidence['consent']>): string {
  return expiresAt === null ? handle : `${handle}, until ${instantText(expiresAt)}`
}

function drawCells(sheet: Sheet, table: PDFKit.PDFStructureElement, type: 'TH' | 'TD', cells: readonly string[]): void {
  let x: number = PAGE.left
  const pieces = cells.map((text, index) => {
    const width = COLUMNS[index]?.width ?? 0
    const piece = { type, text, style: type === 'TH' ? STYLES.smallQuiet : STYLES.small, x, width: width - 8 }
    x += width
    return piece
  })
  sheet.row(sheet.group(table, 'TR'), pieces, 2.5)
}
