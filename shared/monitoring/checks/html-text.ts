/**
 * Joins texts without separator and collapses white space, so `<p>O</p>K` becomes `OK`
 * (docs/spec/monitoring.md#keyword-text). Accepts any input and reads it once.
 */
export function htmlToText(html: string): string {
  const runs: string[] = []
  for (const { text } of walk(html)) runs.push(text)
  return collapsed(decodeEntities(runs.join('')))
}

/** One line per block, with a space between cells. Accepts any input. */
export function htmlToLines(html: string): string {
  const pieces: string[] = []
  for (const { text, markup } of walk(html)) {
    pieces.push(text.replace(/\s+/g, ' '))
    if (BLOCK.test(markup)) pieces.push('\n')
    else if (CELL.test(markup)) pieces.push(' ')
  }
  const lines = decodeEntities(pieces.join('')).split('\n').map(collapsed)
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim()
}

const BLOCK =
  /^<\/?(?:address|article|blockquote|br|center|dd|div|dl|dt|fieldset|footer|form|h[1-6]|header|hr|li|ol|p|pre|section|table|title|tr|ul)[\s/>]/i
const CELL = /^<\/?t[dh][\s/>]/i

function collapsed(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** Yields each run of text with the beginning of the markup after it. */
function* walk(html: string): Generator<{ text: string; markup: string }, void, undefined> {
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open === -1) {
      yield { text: html.slice(at), markup: '' }
      return
    }
    const end = endOfMarkup(html, open)
    // A `<` that does not begin markup is text.
    yield end === open
      ? { text: html.slice(at, open + 1), markup: '' }
      : { text: html.slice(at, open), markup: html.slice(open, Math.min(end, open + MARKUP_READ)) }
    at = end === open ? open + 1 : end
  }
}

/** Characters of a tag that are enough to recognise its name. */
const MARKUP_READ = 14

/** Includes hidden content. Returns `open` if it is not markup. */
function endOfMarkup(html: string, open: number): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + 4)
  const next = html.charAt(open + 1)
  if (next === '!' || next === '?') return after(html, '>', open)
  if (!/[a-z]/i.test(next === '/' ? html.charAt(open + 2) : next)) return open
  const end = endOfTag(html, open)
  const hidden = next === '/' ? null : hiddenElement(html, open)
  if (hidden === null) return end
  const closing = hidden.exec(html.slice(end))
  return closing === null ? html.length : after(html, '>', end + closing.index)
}

/** A `>` inside a quoted attribute does not end the tag. */
function endOfTag(html: string, open: number): number {
  let quote = ''
  for (let at = open; at < html.length; at++) {
    const char = html.charAt(at)
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '>') {
      return at + 1
    } else if ((char === '"' || char === "'") && /=\s*$/.test(html.slice(Math.max(open, at - 8), at))) {
      quote = char
    }
  }
  return html.length
}

function hiddenElement(html: string, open: number): RegExp | null {
  const name = /^[a-z]+(?=[\s/>])/i.exec(html.slice(open + 1, open + 9))?.[0].toLowerCase()
  if (name === 'script') return /<\/script/i
  return name === 'style' ? /<\/style/i : null
}

function after(html: string, delimiter: string, from: number): number {
  const at = html.indexOf(delimiter, from)
  return at === -1 ? html.length : at + delimiter.length
}

function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,8})|#[xX]([0-9a-fA-F]{1,7})|([a-zA-Z][a-zA-Z0-9]{1,7}));?/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return NAMED.get(name) ?? whole
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      return isCharacter ? String.fromCodePoint(code) : '\ufffd'
    },
  )
}

/** 160 to 255 */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute ' +
  'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig ' +
  'Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash ' +
  'Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ' +
  'ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc ' +
  'uuml yacute thorn yuml'

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['ndash', '\u2013'],
  ['mdash', '\u2014'],
  ['lsquo', '\u2018'],
  ['rsquo', '\u2019'],
  ['ldquo', '\u201c'],
  ['rdquo', '\u201d'],
  ['bull', '\u2022'],
  ['hellip', '\u2026'],
  ['euro', '\u20ac'],
  ['trade', '\u2122'],
  ['rarr', '\u2192'],
  ['zwnj', '\u200c'],
  ['zwj', '\u200d'],
  ['ensp', '\u2002'],
  ['emsp', '\u2003'],
  ['thinsp', '\u2009'],
  ...LATIN_1.split(' ').map((name, index) => [name, String.fromCodePoint(160 + index)] as const),
])
