import { htmlToText } from '../checks/html-text.ts'
import { decodeCharset, decodeHeaderText, headerParameter, headerToken, readMailHeaders } from './mail-headers.ts'
import { splitParts } from './mail-parts.ts'
import { decodeTransfer } from './mail-transfer.ts'

/** What of a mail keywords are searched in (monitoring behaviour 3.5). */
export interface MailText {
  /** decoded and unfolded; empty when missing */
  subject: string
  /** the first plain part, then the text of the first HTML part; those that exist */
  pieces: string[]
}

/** Levels of multipart inside each other that are followed, and parts that are looked into. */
const MAX_DEPTH = 16
const MAX_PARTS = 1_000
/** Of the headers of all parts together: what a hostile message may make the header parser read. */
const MAX_HEADER_BYTES = 256 * 1024

/**
 * Reads subject and text of a mail of any size. Never fails: what is malformed, or nested beyond reason, is left out.
 * Headers are read by a library. Bodies are not, since it keeps an object per line: a mail of nothing but line ends
 * would take gigabytes; here their cost is linear in the size and no part is copied that is not text.
 */
export async function readMailText(raw: Buffer): Promise<MailText> {
  const search: Search = { raw, plain: null, html: null, partsLeft: MAX_PARTS, headerBytesLeft: MAX_HEADER_BYTES }
  const subject = await findBodies(search, { start: 0, end: raw.length }, 0)
  return { subject, pieces: [search.plain, search.html].filter((piece) => piece !== null) }
}

interface Search {
  raw: Buffer
  plain: string | null
  html: string | null
  partsLeft: number
  headerBytesLeft: number
}

interface Range {
  start: number
  end: number
}

/** Looks for the first body of each kind, depth first. @returns the subject among the headers of this part */
async function findBodies(search: Search, { start, end }: Range, depth: number): Promise<string> {
  search.partsLeft -= 1
  const { raw } = search
  const headers = await readMailHeaders(raw, start, end, search.headerBytesLeft)
  search.headerBytesLeft -= headers.bytes
  const subject = depth === 0 ? decodeHeaderText(headers.first('subject')) : ''
  if (headerToken(headers.first('content-disposition')) === 'attachment') return subject

  const contentType = headers.first('content-type')
  const type = headerToken(contentType) || 'text/plain'
  if (type.startsWith('multipart/')) {
    if (depth === MAX_DEPTH) return subject
    const body = { start: headers.bodyStart, end }
    for (const part of splitParts(raw, body, headerParameter(contentType, 'boundary'), MAX_PARTS)) {
      if ((search.plain !== null && search.html !== null) || search.partsLeft === 0) break
      // In a digest a part without a type is a whole message, which is no body.
      if (type !== 'multipart/digest') await findBodies(search, part, depth + 1)
      // What comes after the first part of these only belongs to it: pictures, styles.
      if (type === 'multipart/related') break
    }
    return subject
  }
  const text = () => {
    const encoding = headerToken(headers.first('content-transfer-encoding'))
    const bytes = decodeTransfer(raw.subarray(headers.bodyStart, end), encoding)
    return decodeCharset(bytes, headerParameter(contentType, 'charset') || 'utf-8')
  }
  if (type === 'text/plain') search.plain ??= text()
  else if (type === 'text/html') search.html ??= htmlToText(text())
  return subject
}
