import { qrMatrix } from '#shared/risk/packs/pdf/qr-matrix.ts'

/** A QR code drawn on the server, black on white in every colour scheme. @param side pixels */
export function QrCode({ text, title, side = 148 }: { text: string; title: string; side?: number }) {
  const { size, runs } = qrMatrix(text)
  const edge = size + 4
  const path = runs.map(({ x, y, length }) => `M${x + 2} ${y + 2}h${length}v1h-${length}z`).join('')
  return (
    <svg class="qr-code" viewBox={`0 0 ${edge} ${edge}`} width={side} height={side} role="img" aria-label="QR code">
      <title>{title}</title>
      <rect width={edge} height={edge} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
