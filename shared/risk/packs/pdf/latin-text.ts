/** The characters beyond Latin-1 that the standard fonts of PDF have (Windows code page 1252). */
const EXTRAS = new Set('€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ')

/** Characters of one text that are laid out. */
const MAX_TEXT = 2_000

/**
 * Text in what the standard fonts can write. The rupee sign becomes `INR`; any other character without a glyph is
 * named by its code point, so that nothing is silently lost: the exact text is in the attached JSON. What is longer than
 * 2,000 characters is cut, and says so.
 */
export function latinText(text: string): string {
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (cut)` : text
  return Array.from(shown.replaceAll('₹', 'INR '), (character) => {
    const code = character.codePointAt(0) ?? 0
    const isPlain = (code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff) || EXTRAS.has(character)
    return isPlain ? character : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  }).join('')
}
