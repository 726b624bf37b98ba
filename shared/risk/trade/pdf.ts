import { buffer } from 'node:stream/consumers'
import type { ApiEnv } from '../../environment.ts'
import { EVIDENCE_SENTENCE, SANDBOX_SENTENCE } from '../packs/pdf/document.ts'
import { instantText } from '../packs/pdf/figures.ts'
import { INK } from '../packs/pdf/ink.ts'
import { openDocument } from '../packs/pdf/open-document.ts'
import { CONTENT_WIDTH, createSheet, line, PAGE, type Sheet, STYLES } from '../packs/pdf/sheet.ts'
import type { TradeCheck } from './checks.ts'
import type { TradeDocument, TradeFinding } from './trade-pack.ts'

export interface TradePdfInput {
  packId: string
  title: string | null
  issuedAt: string
  env: ApiEnv
  statementSha256: string
  txId: string
  documents: readonly TradeDocument[]
  findings: readonly TradeFinding[]
  chain: TradeCheck | null
}

type Struct = PDFKit.PDFStructureElement

const HEADING = { type: 'H2', style: STYLES.heading, x: PAGE.left, width: CONTENT_WIDTH } as const

/** Equal input gives equal bytes: dates and ids come from the pack, and streams stay uncompressed. */
export async function renderTradePdf(input: TradePdfInput): Promise<Buffer> {
  const { packId, issuedAt, txId } = input
  const doc = openDocument(issuedAt, { Title: `Trade provenance pack ${packId}`, Keywords: `txId ${txId}` })
  const root = doc.struct('Document')
  doc.addStructure(root)
  const sheet = createSheet(doc, () => {})
  sheet.need(PAGE.height)
  drawHead(sheet, root, input)
  drawDocuments(sheet, root, input.documents)
  drawFindings(sheet, root, input)
  drawPageNumbers(doc, input.packId)
  root.end()
  doc.end()
  return await buffer(doc)
}

function drawHead(sheet: Sheet, root: Struct, input: TradePdfInput): void {
  const section = sheet.group(root, 'Sect')
  const whole = { x: PAGE.left, width: CONTENT_WIDTH }
  sheet.row(section, [{ type: 'H1', text: 'Trade provenance pack', style: STYLES.title, ...whole }], 6)
  if (input.env === 'SANDBOX') {
    const style = { ...STYLES.strong, color: INK.warning }
    sheet.row(section, [{ type: 'P', text: SANDBOX_SENTENCE, style, ...whole }], 6)
  }
  const table = sheet.group(section, 'Table')
  for (const [label, text] of [
    ['Pack number', input.packId],
    ...(input.title === null ? [] : [['Title', input.title]]),
    ['Issued', instantText(input.issuedAt)],
    ['SHA-256', input.statementSha256],
    ['txId', input.txId],
  ]) {
    sheet.row(sheet.group(table, 'TR'), [
      { type: 'TH', text: label ?? '', style: STYLES.quiet, x: PAGE.left, width: 90 },
      { type: 'TD', text: text ?? '', style: STYLES.body, x: PAGE.left + 96, width: CONTENT_WIDTH - 96 },
    ])
  }
  sheet.y += 6
  sheet.row(section, [{ type: 'P', text: EVIDENCE_SENTENCE, style: STYLES.strong, ...whole }], 14)
}

/** The files stay with their holder. */
function drawDocuments(sheet: Sheet, root: Struct, documents: readonly TradeDocument[]): void {
  const section = sheet.group(root, 'Sect')
  sheet.row(section, [{ ...HEADING, text: 'Documents' }])
  const table = sheet.group(section, 'Table')
  for (const { type, sha256, documentId, tier } of documents) {
    sheet.row(sheet.group(table, 'TR'), [
      { type: 'TH', text: type, style: STYLES.strong, x: PAGE.left, width: 120 },
      { type: 'TD', text: `${sha256}\n${documentId}`, style: STYLES.mono, x: PAGE.left + 124, width: 290 },
      { type: 'TD', text: tier, style: STYLES.small, x: PAGE.left + 418, width: CONTENT_WIDTH - 418 },
    ])
  }
  sheet.y += 10
}

function drawFindings(sheet: Sheet, root: Struct, { findings, chain }: TradePdfInput): void {
  const rows = [...findings.flatMap(({ results }) => results), ...(chain ? [chain] : [])]
  if (rows.length === 0) return
  const section = sheet.group(root, 'Sect')
  sheet.row(section, [{ ...HEADING, text: 'Findings of registries' }])
  const table = sheet.group(section, 'Table')
  for (const { key, result, tier, detail } of rows) {
    sheet.row(sheet.group(table, 'TR'), [
      { type: 'TH', text: key, style: STYLES.strong, x: PAGE.left, width: 140 },
      { type: 'TD', text: result, style: STYLES.body, x: PAGE.left + 146, width: 70 },
      { type: 'TD', text: detail, style: STYLES.body, x: PAGE.left + 220, width: 170 },
      { type: 'TD', text: tier, style: STYLES.small, x: PAGE.left + 394, width: CONTENT_WIDTH - 394 },
    ])
  }
}

function drawPageNumbers(doc: PDFKit.PDFDocument, packId: string): void {
  const { start, count } = doc.bufferedPageRange()
  for (let index = start; index < start + count; index++) {
    doc.switchToPage(index)
    doc.markContent('Artifact', { type: 'Pagination' })
    const text = `Trade provenance pack ${packId} · page ${index + 1} of ${count}`
    line(doc, STYLES.smallQuiet, text).draw(PAGE.left, PAGE.height - 36)
    doc.endMarkedContent()
  }
}
