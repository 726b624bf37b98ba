import { fileURLToPath } from 'node:url'
import { type Font, openSync } from 'fontkit'

/** What a style asks for; which file draws it depends on the text. */
export type Face = 'Sans' | 'Sans-Bold' | 'Mono'

/** A text as it is drawn: what no font of ours has is named by its code point. */
export interface DrawnText {
  text: string
  /** path of the font's file, which is embedded as far as it is used */
  font: string
  features: Readonly<Record<string, boolean>>
}

/** Characters of one text that are laid out. */
const MAX_TEXT = 2_000

/** Scripts of India besides Latin; each of their fonts has Latin letters and the rupee sign too. */
const SCRIPTS: readonly { pattern: RegExp; regular: string; bold: string }[] = [
  {
    pattern: /\p{Script=Devanagari}/u,
    regular: import.meta.resolve(
      '@expo-google-fonts/noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf',
    ),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-devanagari/700Bold/NotoSansDevanagari_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Bengali}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-bengali/400Regular/NotoSansBengali_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-bengali/700Bold/NotoSansBengali_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Gujarati}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-gujarati/400Regular/NotoSansGujarati_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-gujarati/700Bold/NotoSansGujarati_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Gurmukhi}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-gurmukhi/400Regular/NotoSansGurmukhi_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-gurmukhi/700Bold/NotoSansGurmukhi_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Kannada}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-kannada/400Regular/NotoSansKannada_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-kannada/700Bold/NotoSansKannada_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Malayalam}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-malayalam/400Regular/NotoSansMalayalam_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-malayalam/700Bold/NotoSansMalayalam_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Oriya}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-oriya/400Regular/NotoSansOriya_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-oriya/700Bold/NotoSansOriya_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Tamil}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-tamil/400Regular/NotoSansTamil_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-tamil/700Bold/NotoSansTamil_700Bold.ttf'),
  },
  {
    pattern: /\p{Script=Telugu}/u,
    regular: import.meta.resolve('@expo-google-fonts/noto-sans-telugu/400Regular/NotoSansTelugu_400Regular.ttf'),
    bold: import.meta.resolve('@expo-google-fonts/noto-sans-telugu/700Bold/NotoSansTelugu_700Bold.ttf'),
  },
]

/** The library cannot place the marks of some fonts; without their fine placing it writes them all the same. */
const UNPLACED = { abvm: false, blwm: false, mark: false, mkmk: false } as const
/**
 * Our own fonts need no shaping for what they write: a command line is read letter by letter, and without it a document
 * takes half the time.
 */
const UNJOINED = {
  calt: false,
  ccmp: false,
  clig: false,
  kern: false,
  liga: false,
  mark: false,
  mkmk: false,
  rlig: false,
} as const

const OWN: Readonly<Record<Face, string>> = {
  Sans: fileURLToPath(import.meta.resolve('@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf')),
  'Sans-Bold': fileURLToPath(import.meta.resolve('@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf')),
  Mono: fileURLToPath(import.meta.resolve('@expo-google-fonts/jetbrains-mono/400Regular/JetBrainsMono_400Regular.ttf')),
}

const opened = new Map<string, Font>()

/**
 * Text in fonts that are embedded: Latin, Greek and Cyrillic, the rupee sign, and the scripts of India, one of them per
 * text. A line break of any kind begins a line. Any other character, and every other control, is named by its code point, so that nothing is silently lost: the exact
 * text is in the attached JSON. What is longer than 2,000 characters is cut, and says so.
 */
export function drawnText(face: Face, given: string): DrawnText {
  const text = (given.length > MAX_TEXT ? `${given.slice(0, MAX_TEXT)}… (cut)` : given)
    .normalize('NFC')
    .replace(/\r\n|[\r\u0085\u2028\u2029]/g, '\n')
  const own = OWN[face]
  if (isComplete(own, text)) return laidOut(own, text)
  const script = SCRIPTS.find(({ pattern }) => pattern.test(text))
  if (script) return laidOut(fileURLToPath(face === 'Sans-Bold' ? script.bold : script.regular), text)
  return laidOut(face === 'Mono' ? OWN.Sans : own, text)
}

function laidOut(font: string, text: string): DrawnText {
  const shown = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    return hasGlyph(font, code) ? character : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  }).join('')
  if (Object.values(OWN).includes(font)) return { text: shown, font, features: UNJOINED }
  try {
    open(font).layout(shown)
    return { text: shown, font, features: {} }
  } catch {
    return { text: shown, font, features: UNPLACED }
  }
}

function isComplete(font: string, text: string): boolean {
  return Array.from(text).every((character) => hasGlyph(font, character.codePointAt(0) ?? 0))
}

const LINE_FEED = 0x0a

/** Joiners make letters of Indian scripts what they are; other controls could hide or turn what stands around them. */
function hasGlyph(font: string, code: number): boolean {
  if (code === LINE_FEED) return true
  const isJoiner = code === 0x200c || code === 0x200d
  if (!isJoiner && /\p{C}/u.test(String.fromCodePoint(code))) return false
  return open(font).hasGlyphForCodePoint(code)
}

function open(path: string): Font {
  const known = opened.get(path)
  if (known) return known
  const font = openSync(path)
  opened.set(path, font)
  return font
}
