import { buffer } from 'node:stream/consumers'
import type { ApiEnv } from '../../../environment.ts'
import { type PackDocument, packDocument } from './document.ts'
import { drawAnchor } from './draw-anchor.ts'
import { drawCard } from './draw-card.ts'
import { evidenceColumns } from './draw-evidence.ts'
import { drawFooters, drawHead, drawSandboxBand } from './draw-head.ts'
import { instantText } from './figures.ts'
import { openDocument } from './open-document.ts'
import { type PackProof, packFileName, verificationUrl } from './proof.ts'
import { CONTENT_WIDTH, createSheet, PAGE, type Sheet, STYLES } from './sheet.ts'

export interface PackPdfInput {
  /** attached byte for byte */
  body: string
  /** null without evidence */
  evidence: string | null
  /** of the day of the pack */
  dilution?: string | null
  env: ApiEnv
  proof: PackProof
  /** without a trailing slash */
  publicUrl: string
}

/** Equal input gives equal bytes: streams stay uncompressed and the fonts belong to this release. */
export async function renderPackPdf(input: PackPdfInput): Promise<Buffer> {
  const document = packDocument(input)
  const { packId, generatedAt, isSandbox, anchor } = document
  const doc = openDocument(generatedAt, {
    Title: `Risk Signals Pack ${packId}`,
    Subject: `Evidence of ${instantText(generatedAt)}; ${isSandbox ? 'sandbox' : 'live'}`,
    Keywords: `payloadSha256 ${anchor.payloadSha256}; txId ${anchor.txId}`,
  })
  const root = doc.struct('Document')
  doc.addStructure(root)
  let pages = 0
  const sheet = createSheet(doc, (onPage) => {
    pages += 1
    if (document.isSandbox) drawSandboxBand(onPage, pages === 1)
  })
  sheet.need(PAGE.height)
  drawHead(sheet, root, document, verificationUrl(input.publicUrl, anchor.txId))
  const columns = evidenceColumns(
    sheet,
    document.cards.flatMap(({ evidence }) => evidence),
  )
  for (const card of document.cards) drawCard(sheet, root, card, columns)
  drawFlags(sheet, root, document.flags)
  drawAnchor(sheet, root, document, input.proof, input.publicUrl)
  drawFooters(doc, document)
  attach(doc, document, input)
  root.end()
  doc.end()
  return await buffer(doc)
}

function drawFlags(sheet: Sheet, root: PDFKit.PDFStructureElement, flags: readonly string[]): void {
  if (flags.length === 0) return
  sheet.need(40)
  const section = sheet.group(root, 'Sect')
  sheet.row(section, [{ type: 'H2', text: 'Notes', style: STYLES.heading, x: PAGE.left, width: CONTENT_WIDTH }])
  const list = sheet.group(section, 'L')
  for (const text of flags) {
    const item = sheet.group(list, 'LI')
    sheet.row(item, [
      { type: 'Lbl', text: '•', style: STYLES.body, x: PAGE.left, width: 10 },
      { type: 'LBody', text, style: STYLES.body, x: PAGE.left + 10, width: CONTENT_WIDTH - 10 },
    ])
  }
  sheet.y += 10
}

function attach(doc: PDFKit.PDFDocument, document: PackDocument, input: PackPdfInput): void {
  const at = new Date(document.generatedAt)
  const short = document.packId.slice(0, 8)
  const files = [
    {
      name: packFileName(document.packId),
      type: 'application/json',
      text: input.body,
      description: 'The pack, byte for byte',
    },
    { name: `evidence-${short}.json`, type: 'application/json', text: input.evidence, description: 'Its evidence' },
    {
      name: `dilution-${short}.json`,
      type: 'application/json',
      text: input.dilution ?? null,
      description: 'The dilution of the pair, as it was measured that day',
    },
    { name: `proof-${short}.txt`, type: 'text/plain', text: input.proof.tlogProof, description: 'Its inclusion proof' },
  ]
  for (const { name, type, text, description } of files) {
    if (text === null) continue
    doc.file(Buffer.from(text), { name, type, description, creationDate: at, modifiedDate: at })
  }
}
