import PostalMime, { decodeWords } from 'postal-mime'

/** The headers of a message or of one of its parts, and where what follows them begins. */
export interface MailHeaders {
  /** the value of the first header with this lower-case name, unfolded and not decoded; empty when there is none */
  first(name: string): string
  bodyStart: number
  /** length of what was read */
  bytes: number
}

/**
 * Reads the header section that begins at `start`. Only the first `limit` bytes of it are looked at: nobody writes
 * more, and the time of the library grows with the number of lines.
 */
export async function readMailHeaders(raw: Buffer, start: number, end: number, limit: number): Promise<MailHeaders> {
  const { headersEnd, bodyStart } = endOfHeaders(raw, start, end)
  const section = raw.subarray(start, Math.min(headersEnd, start + limit))
  const { headers } = await PostalMime.parse(section, { maxHeadersSize: limit + 1 })
  return {
    first: (name) => headers.find(({ key }) => key === name)?.value ?? '',
    bodyStart,
    bytes: section.length,
  }
}

/** A header's text: encoded words decoded and joined. A charset nobody knows is read as UTF-8. */
export function decodeHeaderText(value: string): string {
  return decodeWords(
    value.replace(ENCODED_WORD, (word, charset: string, rest: string) => (isKnown(charset) ? word : `=?utf-8${rest}`)),
  )
}

const ENCODED_WORD = /=\?([^?*\s]{1,60})((?:\*[^?\s]{1,60})?\?[bq]\?)/gi

/** Decodes bytes of a charset by its label; one that nobody knows is read as UTF-8, bytes that fit nothing replaced. */
export function decodeCharset(bytes: Uint8Array, label: string): string {
  return new TextDecoder(isKnown(label) ? label : 'utf-8', { ignoreBOM: true }).decode(bytes)
}

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== ''
  } catch {
    return false
  }
}

/** The value before the first semicolon, in lower case and without comments: `text/plain`, `attachment`, `base64`. */
export function headerToken(value: string): string {
  return (value.replace(/\([^()]*\)/g, ' ').split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** A parameter of a structured header, unquoted; empty when there is none. */
export function headerParameter(value: string, name: 'boundary' | 'charset'): string {
  const [, quoted, token] = PARAMETER[name].exec(value) ?? []
  return quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1')
}

const PARAMETER = {
  boundary: /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
  charset: /;\s*charset\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
}

/** The empty line that ends the headers, whichever way its line ends; without one, everything is headers. */
function endOfHeaders(raw: Buffer, start: number, end: number): { headersEnd: number; bodyStart: number } {
  let line = start
  while (line < end) {
    const feed = raw.indexOf(LINE_FEED, line)
    const next = feed === -1 || feed >= end ? end : feed + 1
    const isEmpty = next - line === 1 || (next - line === 2 && raw[line] === CARRIAGE_RETURN)
    if (isEmpty && raw[next - 1] === LINE_FEED) return { headersEnd: line, bodyStart: next }
    line = next
  }
  return { headersEnd: end, bodyStart: end }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
