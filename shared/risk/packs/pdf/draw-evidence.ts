import type { CardEvidence } from './card.ts'
import { instantText } from './figures.ts'
import { missingText, sourceName } from './labels.ts'
import { CONTENT_WIDTH, line, PAGE, type Piece, type Sheet, STYLES } from './sheet.ts'
import { tierLabel } from './tiers.ts'

const TITLES = ['Value', 'Tier', 'Source', 'As of', 'Consent'] as const
const GAP = 8
const ROW_GAP = 2.5

/** Points. The widest columns shrink to fit. */
export function evidenceColumns(sheet: Sheet, evidence: readonly CardEvidence[]): number[] {
  const rows = [...new Map(evidence.map((entry) => [entry.key, cellsOf(entry)])).values()]
  const wanted = TITLES.map((title, index) =>
    Math.max(
      ...[title, ...rows.map((cells) => cells[index] ?? '')].map((text) => sheet.width(STYLES.small, text) + GAP),
    ),
  )
  const most = widest(wanted, CONTENT_WIDTH)
  const widths = wanted.map((width) => Math.min(width, most))
  const spare = CONTENT_WIDTH - widths.reduce((sum, width) => sum + width, 0)
  return widths.map((width) => width + spare / widths.length)
}

function widest(wanted: readonly number[], room: number): number {
  let left = room
  for (const [index, width] of wanted.toSorted((a, b) => a - b).entries()) {
    const share = left / (wanted.length - index)
    if (width > share) return share
    left -= width
  }
  return room
}

/** Column titles are above the first row and on each page. */
export function drawEvidence(
  sheet: Sheet,
  parent: PDFKit.PDFStructureElement,
  evidence: readonly CardEvidence[],
  columns: readonly number[],
): void {
  if (evidence.length === 0) return
  sheet.y += 4
  const table = sheet.group(parent, 'Table')
  const titles = piecesOf('TH', TITLES, columns)
  const titleHeight = heightOf(sheet, titles)
  for (const [index, entry] of evidence.entries()) {
    const cells = piecesOf('TD', cellsOf(entry), columns)
    if (index === 0) {
      sheet.need(titleHeight + heightOf(sheet, cells))
      sheet.row(sheet.group(table, 'TR'), titles, ROW_GAP)
    } else if (!sheet.fits(heightOf(sheet, cells))) {
      sheet.need(PAGE.height)
      drawAgain(sheet, titles)
      sheet.y += titleHeight
    }
    sheet.row(sheet.group(table, 'TR'), cells, ROW_GAP)
  }
}

/** An artifact, because assistive technology has read the titles on the first page. */
function drawAgain(sheet: Sheet, titles: readonly Piece[]): void {
  sheet.artifact(() => {
    for (const { text, style, x } of titles) line(sheet.doc, style, text).draw(x, sheet.y)
  })
}

function heightOf(sheet: Sheet, pieces: readonly Piece[]): number {
  return Math.max(...pieces.map((piece) => sheet.height(piece))) + ROW_GAP
}

function cellsOf(entry: CardEvidence): string[] {
  return [
    entry.label,
    entry.tier === 'MISSING' ? missingText(entry.missingReason ?? null) : tierLabel(entry.tier),
    sourceName(entry.source),
    instantText(entry.asOf ?? entry.observedAt),
    entry.consent ? consentText(entry.consent) : '—',
  ]
}

function consentText({ handle, expiresAt }: NonNullable<CardEvidence['consent']>): string {
  return expiresAt === null ? handle : `${handle}, until ${instantText(expiresAt)}`
}

function piecesOf<T extends 'TH' | 'TD'>(type: T, texts: readonly string[], columns: readonly number[]) {
  let x: number = PAGE.left
  return texts.map((text, index) => {
    const width = columns[index] ?? 0
    const piece = { type, text, style: type === 'TH' ? STYLES.smallQuiet : STYLES.small, x, width: width - GAP }
    x += width
    return piece
  })
}
