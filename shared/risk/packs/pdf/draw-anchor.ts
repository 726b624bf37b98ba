import type { PackDocument } from './document.ts'
import { words } from './figures.ts'
import { INK } from './ink.ts'
import { type PackProof, verificationLines, verificationUrl } from './proof.ts'
import { CONTENT_WIDTH, PAGE, type Sheet, STYLES } from './sheet.ts'

const LABEL_WIDTH = 78

/** The commands verify the pack independently of this document. */
export function drawAnchor(
  sheet: Sheet,
  parent: PDFKit.PDFStructureElement,
  document: PackDocument,
  proof: PackProof,
  publicUrl: string,
): void {
  sheet.need(300)
  const section = sheet.group(parent, 'Sect')
  const { doc } = sheet
  const { anchor } = document
  const address = verificationUrl(publicUrl, anchor.txId)
  sheet.artifact(() => {
    doc.lineWidth(1.2).strokeColor(INK.text)
    doc
      .moveTo(PAGE.left, sheet.y)
      .lineTo(PAGE.width - PAGE.right, sheet.y)
      .stroke()
  })
  sheet.y += 10
  sheet.row(section, [{ type: 'H2', text: 'Anchor', style: STYLES.heading, x: PAGE.left, width: CONTENT_WIDTH }], 6)
  const table = sheet.group(section, 'Table')
  for (const [label, value] of anchorRows(document, proof)) {
    sheet.row(sheet.group(table, 'TR'), [
      { type: 'TH', text: label, style: STYLES.quiet, x: PAGE.left, width: LABEL_WIDTH - 8 },
      { type: 'TD', text: value, style: STYLES.mono, x: PAGE.left + LABEL_WIDTH, width: CONTENT_WIDTH - LABEL_WIDTH },
    ])
  }
  sheet.y += 4
  link(sheet, section, address)
  if (proof.checkpoint) {
    lines(sheet, section, 'Checkpoint of the log', proof.checkpoint.trimEnd().split('\n'))
  }
  const log = document.isSandbox ? 'sandbox' : 'production'
  lines(sheet, section, 'Verify it yourself', verificationLines(publicUrl, anchor.txId, document.packId, log))
}

function anchorRows({ anchor }: PackDocument, { state, index, treeSize }: PackProof): [string, string][] {
  return [
    ['Network', anchor.network],
    ['Pack SHA-256', anchor.payloadSha256],
    ['Transaction', anchor.txId],
    ['State', words(state)],
    ['Log index', index === null ? 'no checkpoint covers it yet' : `${index} in a tree of ${treeSize}`],
  ]
}

function link(sheet: Sheet, section: PDFKit.PDFStructureElement, address: string): void {
  const text = `Check this pack at ${address}`
  const style = { ...STYLES.small, color: INK.accent }
  sheet.row(section, [{ type: 'P', text, style, x: PAGE.left, width: CONTENT_WIDTH }], 8)
}

function lines(sheet: Sheet, section: PDFKit.PDFStructureElement, title: string, texts: readonly string[]): void {
  sheet.need(20 + texts.length * 12)
  sheet.row(section, [{ type: 'H3', text: title, style: STYLES.strong, x: PAGE.left, width: CONTENT_WIDTH }])
  for (const line of texts) {
    // A signed note contains an empty line.
    const text = line || ' '
    sheet.row(section, [{ type: 'P', text, style: STYLES.mono, x: PAGE.left, width: CONTENT_WIDTH }], 1.5)
  }
  sheet.y += 8
}
