import { qrMatrix } from './qr-matrix.ts'
import type { Sheet } from './sheet.ts'

/**
 * The QR code of an address, black on the white of the page, described for those who do not see it. Nothing else may
 * stand closer than four of its modules, or cameras do not find it.
 * @param side points
 */
export function drawQr(
  sheet: Sheet,
  parent: PDFKit.PDFStructureElement,
  address: string,
  { x, y, side }: { x: number; y: number; side: number },
): void {
  const { doc } = sheet
  const { size, runs } = qrMatrix(address)
  const module = side / size
  parent.add(
    doc.struct('Figure', { alt: `QR code of ${address}` }, () => {
      for (const run of runs) doc.rect(x + run.x * module, y + run.y * module, run.length * module, module)
      doc.fill('#000000')
    }),
  )
}
