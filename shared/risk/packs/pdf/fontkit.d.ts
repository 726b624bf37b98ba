/** The little that we ask of the library that pdfkit lays text out with; it brings no types. */
declare module 'fontkit' {
  interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean
    layout(text: string, features?: Readonly<Record<string, boolean>>): unknown
  }
  /** @param path of a file */
  export function openSync(path: string): Font
}
