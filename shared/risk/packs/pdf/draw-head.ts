import { EVIDENCE_SENTENCE, type PackDocument, SANDBOX_SENTENCE } from './document.ts'
import { drawQr } from './draw-qr.ts'
import { instantText } from './figures.ts'
import { INK } from './ink.ts'
import { CONTENT_WIDTH, line, PAGE, type Sheet, STYLES } from './sheet.ts'
import { drawTierIcon } from './tiers.ts'

const BAND_HEIGHT = 26
const LABEL_WIDTH = 96
/** `room` is the width beside the facts. */
const QR = { side: 72, below: 2, quiet: 8, room: 104 }

/** `drawHead` adds the band's text for screen readers once. */
export function drawSandboxBand(sheet: Sheet, isFirst: boolean): void {
  const { doc } = sheet
  sheet.artifact(() => {
    doc.rect(0, 0, PAGE.width, BAND_HEIGHT).fill(INK.warning)
    if (!isFirst) drawBandText(doc)
  })
}

function drawBandText(doc: PDFKit.PDFDocument): void {
  const { width, draw } = line(doc, { font: 'Sans-Bold', size: 10, color: '#ffffff' }, SANDBOX_SENTENCE)
  draw((PAGE.width - width) / 2, 7)
}

function drawLogo(doc: PDFKit.PDFDocument, x: number, y: number): void {
  doc.save().translate(x, y)
  doc.roundedRect(1, 1, 22, 22, 6).fill(INK.accent)
  doc.lineWidth(2).lineCap('round').lineJoin('round')
  doc.path('M5 13h3.2l2.3-6 3.4 10 2.2-4H19').stroke('#ffffff')
  doc.restore()
}

export function drawHead(
  sheet: Sheet,
  root: PDFKit.PDFStructureElement,
  document: PackDocument,
  address: string,
): void {
  const section = sheet.group(root, 'Sect')
  const whole = { x: PAGE.left, width: CONTENT_WIDTH }
  sheet.row(section, [{ type: 'H1', text: 'Risk Signals Pack', style: STYLES.title, ...whole }], 6)
  sheet.artifact(() => drawLogo(sheet.doc, PAGE.width - PAGE.right - 24, PAGE.top))
  if (document.isSandbox) section.add(sheet.doc.struct('P', {}, () => drawBandText(sheet.doc)))
  const top = sheet.y
  drawFacts(sheet, section, document)
  drawCode(sheet, section, address, top)
  drawStrip(sheet, section, document)
  sheet.row(section, [{ type: 'P', text: EVIDENCE_SENTENCE, style: STYLES.strong, ...whole }], 14)
}

function drawFacts(sheet: Sheet, section: PDFKit.PDFStructureElement, document: PackDocument): void {
  const table = sheet.group(section, 'Table')
  const { level } = document
  const beside = CONTENT_WIDTH - QR.room
  for (const [label, text, width] of [
    ['Pack number', document.packId, beside],
    ['Composed', instantText(document.generatedAt), beside],
    ['Mode', document.isSandbox ? 'Sandbox' : 'Live', beside],
    ['Order', document.order.value, beside],
    ['Buyer', document.order.buyer, beside],
    ['Subcontractor', document.order.subcontractor, beside],
    ['Signal level', `${level.code} — ${level.meaning}`, CONTENT_WIDTH],
  ] as const) {
    sheet.row(sheet.group(table, 'TR'), [
      { type: 'TH', text: label, style: STYLES.quiet, x: PAGE.left, width: 90 },
      { type: 'TD', text, style: STYLES.body, x: PAGE.left + LABEL_WIDTH, width: width - LABEL_WIDTH },
    ])
  }
  sheet.y += 6
}

/** A printed first page can be verified. */
function drawCode(sheet: Sheet, section: PDFKit.PDFStructureElement, address: string, top: number): void {
  const { y } = sheet
  const right = PAGE.width - PAGE.right
  drawQr(sheet, section, address, { x: right - QR.side, y: top + QR.below, side: QR.side })
  const text = 'Scan to check this pack'
  const width = sheet.width(STYLES.smallQuiet, text)
  sheet.y = top + QR.below + QR.side + QR.quiet
  sheet.row(section, [{ type: 'P', text, style: STYLES.smallQuiet, x: right - width, width }])
  sheet.y = y
}

function drawStrip(sheet: Sheet, section: PDFKit.PDFStructureElement, { tiers }: PackDocument): void {
  const { doc } = sheet
  const width = CONTENT_WIDTH / tiers.length
  const top = sheet.y
  sheet.artifact(() => {
    doc.lineWidth(0.8).strokeColor(INK.rule).rect(PAGE.left, top, CONTENT_WIDTH, 52).stroke()
    for (const [index, { tier }] of tiers.entries()) {
      const x = PAGE.left + index * width
      if (index > 0)
        doc
          .strokeColor(INK.rule)
          .moveTo(x, top)
          .lineTo(x, top + 52)
          .stroke()
      drawTierIcon(doc, tier, x + 9, top + 12, 11)
    }
  })
  const table = sheet.group(section, 'Table')
  sheet.y = top + 9
  const counts = tiers.map(({ tier, count }, index) => ({
    type: 'TD',
    text: String(count),
    style: { ...STYLES.title, size: 16, color: tier === 'MISSING' && count > 0 ? INK.warning : INK.text },
    x: PAGE.left + index * width + 27,
    width: width - 30,
  }))
  const labels = tiers.map(({ label }, index) => ({
    type: 'TH',
    text: label,
    style: STYLES.smallQuiet,
    x: PAGE.left + index * width + 9,
    width: width - 11,
  }))
  sheet.row(sheet.group(table, 'TR'), counts, 4)
  sheet.row(sheet.group(table, 'TR'), labels)
  sheet.y = top + 64
}

export function drawFooters(doc: PDFKit.PDFDocument, { packId }: PackDocument): void {
  const { start, count } = doc.bufferedPageRange()
  for (let index = start; index < start + count; index++) {
    doc.switchToPage(index)
    doc.markContent('Artifact', { type: 'Pagination' })
    const y = PAGE.height - 36
    line(doc, STYLES.smallQuiet, `Risk Signals Pack ${packId} · evidence, never a recommendation`).draw(PAGE.left, y)
    const page = line(doc, STYLES.smallQuiet, `Page ${index + 1} of ${count}`)
    page.draw(PAGE.width - PAGE.right - page.width, y)
    doc.endMarkedContent()
  }
}
