import { fileURLToPath } from 'node:url'
import { type Font, openSync } from 'fontkit'

export type Face = 'Sans' | 'Sans-Bold' | 'Mono'

/** Code points replace characters without a glyph. */
export interface DrawnText {
  text: string
  font: string
  features: Readonly<Record<string, boolean>>
}

const MAX_TEXT = 2_000

/** Scripts of India besides Latin; each font also has Latin letters and the rupee sign. */
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

/** pdfkit cannot place the marks of some fonts; without these features it draws the text. */
const UNPLACED = { abvm: false, blwm: false, mark: false, mkmk: false } as const
/** Features that command lines must not have, or that would double the rendering time. */
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

const FONTS: Readonly<Record<Face, string>> = {
  Sans: fileURLToPath(import.meta.resolve('@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf')),
  'Sans-Bold': fileURLToPath(import.meta.resolve('@expo-google-fonts/inter/700Bold/Inter_700Bold.ttf')),
  Mono: fileURLToPath(import.meta.resolve('@expo-google-fonts/jetbrains-mono/400Regular/JetBrainsMono_400Regular.ttf')),
}

const opened = new Map<string, Font>()

/**
 * Selects a font for Latin, Greek, Cyrillic and one script of India. Other characters become their code points, so
 * that none disappears silently. Cuts texts above 2,000 characters.
 */
export function drawnText(face: Face, input: string): DrawnText {
  const text = (input.length > MAX_TEXT ? `${input.slice(0, MAX_TEXT)}… (cut)` : input)
    .normalize('NFC')
    .replace(/\r\n|[\r\u0085\u2028\u2029]/g, '\n')
  const standard = FONTS[face]
  if (isComplete(standard, text)) return laidOut(standard, text)
  const script = SCRIPTS.find(({ pattern }) => pattern.test(text))
  if (script) return laidOut(fileURLToPath(face === 'Sans-Bold' ? script.bold : script.regular), text)
  return laidOut(face === 'Mono' ? FONTS.Sans : standard, text)
}

function laidOut(font: string, text: string): DrawnText {
  const shown = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0
    return hasGlyph(font, code) ? character : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
  }).join('')
  if (Object.values(FONTS).includes(font)) return { text: shown, font, features: UNJOINED }
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

/** Indian scripts need joiners; other control characters could hide or reorder text. */
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
