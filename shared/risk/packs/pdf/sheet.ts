import { INK } from './ink.ts'
import { type DrawnText, drawnText, type Face } from './typeface.ts'

export const PAGE = { width: 595.28, height: 841.89, left: 48, right: 48, top: 64, bottom: 56 } as const
export const CONTENT_WIDTH = PAGE.width - PAGE.left - PAGE.right

export interface Style {
  font: Face
  size: number
  color: string
}

export const STYLES = {
  title: { font: 'Sans-Bold', size: 20, color: INK.text },
  heading: { font: 'Sans-Bold', size: 11.5, color: INK.text },
  body: { font: 'Sans', size: 9.5, color: INK.text },
  strong: { font: 'Sans-Bold', size: 9.5, color: INK.text },
  quiet: { font: 'Sans', size: 8.5, color: INK.quiet },
  small: { font: 'Sans', size: 7.5, color: INK.text },
  smallQuiet: { font: 'Sans', size: 7.5, color: INK.quiet },
  mono: { font: 'Mono', size: 7.5, color: INK.text },
} as const satisfies Record<string, Style>

export interface Piece {
  text: string
  style: Style
  x: number
  width: number
}

type Struct = PDFKit.PDFStructureElement

/** Breaks pages only between structure elements. */
export interface Sheet {
  doc: PDFKit.PDFDocument
  y: number
  /** starts a new page unless this height is left */
  need(height: number): void
  fits(height: number): boolean
  /** rounded up, because an exact width would wrap the text */
  width(style: Style, text: string): number
  group(parent: Struct, type: string): Struct
  height(piece: Piece): number
  /** moves below the highest piece */
  row(parent: Struct, pieces: readonly (Piece & { type: string })[], gap?: number): void
  artifact(draw: () => void): void
}

export function createSheet(doc: PDFKit.PDFDocument, onPage: (sheet: Sheet) => void): Sheet {
  const sheet: Sheet = {
    doc,
    y: 0,
    need(height) {
      if (sheet.y > 0 && sheet.fits(height)) return
      doc.addPage()
      sheet.y = PAGE.top
      onPage(sheet)
    },
    fits: (height) => sheet.y + height <= PAGE.height - PAGE.bottom,
    width({ font, size }, text) {
      const drawn = drawnText(font, text)
      return Math.ceil(doc.font(drawn.font).fontSize(size).widthOfString(drawn.text, optionsFor(drawn))) + 1
    },
    group(parent, type) {
      const element = doc.struct(type)
      parent.add(element)
      return element
    },
    height({ text, style, width }) {
      const drawn = drawnText(style.font, text)
      return doc.font(drawn.font).fontSize(style.size).heightOfString(drawn.text, optionsFor(drawn, width))
    },
    row(parent, pieces, gap = 4) {
      const height = Math.max(...pieces.map((piece) => sheet.height(piece)))
      sheet.need(height)
      const { y } = sheet
      for (const { type, text, style, x, width } of pieces) {
        parent.add(
          doc.struct(type, optionsOf(type, pieces.length), () => {
            const drawn = drawnText(style.font, text)
            doc.font(drawn.font).fontSize(style.size).fillColor(style.color)
            doc.text(drawn.text, x, y, optionsFor(drawn, width))
          }),
        )
      }
      sheet.y = y + height + gap
    },
    artifact(draw) {
      doc.markContent('Artifact', { type: 'Layout' })
      draw()
      doc.endMarkedContent()
    },
  }
  return sheet
}

/** Headers of lists belong to their row. */
function optionsOf(type: string, cells: number): { alt?: string; scope?: 'Row' | 'Column' } {
  if (type !== 'TH') return {}
  return { scope: cells > 4 ? 'Column' : 'Row' }
}

/** Returns the width in points. */
export function line(
  doc: PDFKit.PDFDocument,
  style: Style,
  input: string,
): { draw(x: number, y: number): void; width: number } {
  const { font, text } = drawnText(style.font, input)
  const set = () => doc.font(font).fontSize(style.size).fillColor(style.color)
  return {
    width: set().widthOfString(text),
    draw: (x, y) => {
      set().text(text, x, y, { lineBreak: false })
    },
  }
}

function optionsFor({ features }: DrawnText, width?: number): PDFKit.Mixins.TextOptions {
  const within = width === undefined ? {} : { width }
  if (Object.keys(features).length === 0) return within
  // pdfkit also accepts disabled features; its types only declare a list of enabled ones.
  return { ...within, features: features as unknown as PDFKit.Mixins.OpenTypeFeatures[] }
}
