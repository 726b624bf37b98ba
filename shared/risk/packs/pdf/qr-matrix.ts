import QRCode from 'qrcode'

/** A QR code as runs of dark modules, to be drawn as vectors. */
export interface QrMatrix {
  /** modules per side, without the quiet zone */
  size: number
  /** dark runs: column, row, length; in modules */
  runs: { x: number; y: number; length: number }[]
}

/** The QR code of a text, at medium error correction. */
export function qrMatrix(text: string): QrMatrix {
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
