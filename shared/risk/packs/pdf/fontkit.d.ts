/** The functions of fontkit that we use; pdfkit depends on it, and it has no types. */
declare module 'fontkit' {
  interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean
    layout(text: string, features?: Readonly<Record<string, boolean>>): unknown
  }
  export function openSync(path: string): Font
}
