import PostalMime, { decodeWords } from 'postal-mime'

export interface MailHeaders {
  /** first header with this lower-case name, unfolded and not decoded; empty if absent */
  first(name: string): string
  bodyStart: number
  bytes: number
}

/** Reads at most `limit` bytes, because the library's time grows with the number of lines. */
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

export function decodeHeaderText(value: string): string {
  return decodeWords(
    value.replace(ENCODED_WORD, (word, charset: string, rest: string) => (isKnown(charset) ? word : `=?utf-8${rest}`)),
  )
}

const ENCODED_WORD = /=\?([^?*\s]{1,60})((?:\*[^?\s]{1,60})?\?[bq]\?)/gi

/** Reads an unknown charset as UTF-8, and replaces invalid bytes. */
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

/** In lower case, without comments and parameters: `text/plain`, `attachment`, `base64`. */
export function headerToken(value: string): string {
  return (value.replace(/\([^()]*\)/g, ' ').split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Without quotes; empty if absent. */
export function headerParameter(value: string, name: 'boundary' | 'charset'): string {
  const [, quoted, token] = PARAMETER[name].exec(value) ?? []
  return quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1')
}

const PARAMETER = {
  boundary: /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
  charset: /;\s*charset\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i,
}

/** Accepts any kind of line end. Returns the end of the text if there is none. */
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

/** Unknown encodings leave the bytes unchanged. */
export function decodeTransfer(bytes: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(bytes.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? decodeQuotedPrintable(bytes) : bytes
}

/** A `=` without two hex digits or a soft line break stays, as in mail programs. */
function decodeQuotedPrintable(bytes: Buffer): Buffer {
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const escaped = byte === EQUALS ? readEscape(bytes, at) : null
    if (escaped === null) {
      decoded[length++] = byte
    } else {
      if (escaped.byte !== null) decoded[length++] = escaped.byte
      at += escaped.skip
    }
  }
  return decoded.subarray(0, length)
}

/** `skip` is the number of bytes after the `=`; `byte` is null for a soft line break. */
function readEscape(bytes: Buffer, at: number): { byte: number | null; skip: number } | null {
  const high = hexDigit(bytes[at + 1])
  const low = hexDigit(bytes[at + 2])
  if (high !== -1 && low !== -1) return { byte: high * 16 + low, skip: 2 }
  let end = at + 1
  while (bytes[end] === SPACE || bytes[end] === TAB) end += 1
  if (bytes[end] === CARRIAGE_RETURN) end += 1
  return bytes[end] === LINE_FEED || end >= bytes.length ? { byte: null, skip: end - at } : null
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

const EQUALS = 0x3d
const SPACE = 0x20
const TAB = 0x09

interface Range {
  start: number
  end: number
}

/** Longer boundaries are ignored (RFC 2046 allows 70). */
const MAX_BOUNDARY = 200
/** Maximum number of lines that only begin like a boundary; after them the rest is one part. */
const MAX_LOOKALIKES = 10_000

/**
 * Excludes the line end before the next boundary. Without a closing boundary, the last part ends with the body.
 * Copies nothing. `budget` is the bytes that may be searched in all calls for one mail.
 */
export function splitParts(
  raw: Buffer,
  body: Range,
  boundary: string,
  limit: number,
  budget: { bytesLeft: number },
): Range[] {
  if (boundary === '' || boundary.length > MAX_BOUNDARY) return []
  // Header values were read as UTF-8; this restores their bytes.
  const delimiter = Buffer.from(`\n--${boundary}`)
  const parts: Range[] = []
  let start: number | null = null
  let lookalikes = 0
  // The line end before the first boundary also ends the headers.
  let at = Math.max(body.start - 1, 0)
  while (parts.length < limit && lookalikes < MAX_LOOKALIKES) {
    const end = Math.min(body.end, at + budget.bytesLeft)
    const offset = raw.subarray(at, end).indexOf(delimiter)
    budget.bytesLeft -= (offset === -1 ? end : at + offset + delimiter.length) - at
    if (offset === -1) break
    const found = at + offset
    const tail = readTail(raw, found + delimiter.length, body.end)
    if (tail === null) {
      lookalikes += 1
      at = found + delimiter.length
      continue
    }
    if (start !== null)
      parts.push({ start, end: Math.max(start, raw[found - 1] === CARRIAGE_RETURN ? found - 1 : found) })
    if (tail.isLast) return parts
    start = tail.next
    // If the part is empty, this line end also begins the next boundary.
    at = Math.max(found + 1, tail.next - 1)
  }
  if (start !== null && parts.length < limit) parts.push({ start, end: body.end })
  return parts
}

/** Returns null if the line contains more than white space, so it is not a boundary. */
function readTail(raw: Buffer, from: number, end: number): { isLast: boolean; next: number } | null {
  const isLast = raw[from] === DASH && raw[from + 1] === DASH && from + 2 <= end
  let at = isLast ? from + 2 : from
  while (at < end && (raw[at] === SPACE || raw[at] === TAB || raw[at] === CARRIAGE_RETURN)) at += 1
  if (at >= end) return { isLast, next: end }
  return raw[at] === LINE_FEED ? { isLast, next: at + 1 } : null
}

const DASH = 0x2d
