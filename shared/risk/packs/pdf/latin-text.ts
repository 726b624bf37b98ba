/** The characters beyond Latin-1 that the standard fonts of PDF have (Windows code page 1252). */
const EXTRAS = new Set('€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ')

/**
 * Text in what the standard fonts can write. The rupee sign becomes `INR`; any other character without a glyph is
 * named by its code point, so that nothing is silently lost: the exact text is in the attached JSON.
 */
export function latinText(text: string): string {
  return Array.from(text.replaceAll('₹', 'INR '), (character) => {
    const code = character.codePointAt(0) ?? 0
    const isPlain = (code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff) || EXTRAS.has(character)
    return isPlain ? character : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  }).join('')
}
