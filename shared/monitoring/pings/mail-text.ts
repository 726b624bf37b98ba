import { addressParser } from 'postal-mime'
import type { MailText } from '../../contracts/mail-text.ts'
import { htmlToText } from '../checks/html-text.ts'
import {
  decodeCharset,
  decodeHeaderText,
  decodeTransfer,
  headerParameter,
  headerToken,
  type MailHeaders,
  readMailHeaders,
  splitParts,
} from './mail-message.ts'

export interface Mail {
  subject: string
  sender: string
  plain: string | null
  /** the first HTML part, not sanitized */
  html: string | null
}

/** Limit of nested multiparts, and of parts that are read. */
const MAX_DEPTH = 16
const MAX_PARTS = 1_000
/** Limits the search for boundaries; enough for real mails. */
const MAX_SEARCHES = 4
/** Maximum header bytes of all parts together, because header parsing is expensive. */
const MAX_HEADER_BYTES = 256 * 1024

export async function readMailText(raw: Uint8Array): Promise<MailText> {
  const { subject, plain, html } = await readMail(raw)
  return { subject, pieces: [plain, html === null ? null : htmlToText(html)].filter((piece) => piece !== null) }
}

export interface PackedText {
  /** null if too long for a message */
  carried: MailText | null
  /** null if carried */
  stored: Uint8Array | null
  /** as in the log of the check */
  subject: string
}

/** Carries the text if its JSON has at most `carriedBytes`. */
export async function packMailText(input: { raw: Uint8Array; carriedBytes: number }): Promise<PackedText> {
  const text = await readMailText(input.raw)
  const stored = Buffer.from(JSON.stringify([text.subject, ...text.pieces]))
  const subject = listedSubject(text.subject)
  return stored.length <= input.carriedBytes
    ? { carried: text, stored: null, subject }
    : { carried: null, stored, subject }
}

const LISTED_CHARACTERS = 200
/** Characters that change the direction of the text around them. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Returns a subject for lists: one line of at most 200 characters, without control and direction characters. */
export function listedSubject(subject: string): string {
  // A long subject is cut first, because the sender decides its length.
  const beginning = subject
    .slice(0, LISTED_CHARACTERS * 10)
    .toWellFormed()
    .replaceAll(DIRECTION, '')
  const line = beginning.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return [...line].slice(0, LISTED_CHARACTERS).join('')
}

/**
 * Never throws: malformed or deeply nested parts are left out. The library parses headers only: it keeps an object
 * per line, so a mail of line ends would need gigabytes. The cost is linear in the size. `bytes` may be a prefix of
 * the mail.
 */
export async function readMail(bytes: Uint8Array): Promise<Mail> {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const search: Search = {
    raw,
    plain: null,
    html: null,
    partsLeft: MAX_PARTS,
    headerBytesLeft: MAX_HEADER_BYTES,
    boundaries: { bytesLeft: raw.length * MAX_SEARCHES },
  }
  const { subject, sender } = await findBodies(search, { start: 0, end: raw.length }, 0)
  return { subject, sender, plain: search.plain, html: search.html }
}

interface Search {
  raw: Buffer
  plain: string | null
  html: string | null
  partsLeft: number
  headerBytesLeft: number
  boundaries: { bytesLeft: number }
}

interface Range {
  start: number
  end: number
}

/** Depth first. Returns the headers of the mail itself. */
async function findBodies(search: Search, { start, end }: Range, depth: number): Promise<HeaderFields> {
  search.partsLeft -= 1
  const { raw } = search
  const headers = await readMailHeaders(raw, start, end, search.headerBytesLeft)
  search.headerBytesLeft -= headers.bytes
  const fields = depth === 0 ? readHeaderFields(headers) : NOTHING
  if (headerToken(headers.first('content-disposition')) === 'attachment') return fields

  const contentType = headers.first('content-type')
  const type = headerToken(contentType) || 'text/plain'
  if (type.startsWith('multipart/')) {
    if (depth === MAX_DEPTH) return fields
    const body = { start: headers.bodyStart, end }
    for (const part of splitParts(raw, body, headerParameter(contentType, 'boundary'), MAX_PARTS, search.boundaries)) {
      if ((search.plain !== null && search.html !== null) || search.partsLeft === 0) break
      // In a digest a part without a type is a whole message, not a body.
      if (type !== 'multipart/digest') await findBodies(search, part, depth + 1)
      // The other parts of these types are related to the first: images, styles.
      if (type === 'multipart/related') break
    }
    return fields
  }
  const text = () => {
    const encoding = headerToken(headers.first('content-transfer-encoding'))
    const bytes = decodeTransfer(raw.subarray(headers.bodyStart, end), encoding)
    return decodeCharset(bytes, headerParameter(contentType, 'charset') || 'utf-8')
  }
  if (type === 'text/plain') search.plain ??= text()
  else if (type === 'text/html') search.html ??= text()
  return fields
}

type HeaderFields = Pick<Mail, 'subject' | 'sender'>

const NOTHING: HeaderFields = { subject: '', sender: '' }
/** Maximum length of a From header that is parsed: the library's time grows with it. */
const MAX_FROM = 1_000

function readHeaderFields(headers: MailHeaders): HeaderFields {
  const [from] = addressParser(headers.first('from').slice(0, MAX_FROM), { flatten: true })
  return { subject: decodeHeaderText(headers.first('subject')), sender: from?.address ?? '' }
}
