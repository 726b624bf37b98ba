import { createRequire } from 'node:module'
import type { Sheet } from './sheet.ts'

const require = createRequire(import.meta.url)

/** Draws a QR code with a quiet zone of four modules, which cameras need. @param side points */
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

export interface QrMatrix {
  size: number
  /** dark runs: column, row, length; in modules */
  runs: { x: number; y: number; length: number }[]
}

/** Uses medium error correction. */
export function qrMatrix(text: string): QrMatrix {
  // Loaded by the first code, because most processes draw none.
  const QRCode: typeof import('qrcode') = require('qrcode')
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'M' })
  const { size } = modules
  const runs: QrMatrix['runs'] = []
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const start = x
      while (x < size && modules.get(y, x)) x++
      if (x > start) runs.push({ x: start, y, length: x - start })
    }
  }
  return { size, runs }
}
