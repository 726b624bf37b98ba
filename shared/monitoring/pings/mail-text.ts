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

/** A mail as a person reads it: decoded and unfolded; empty texts and null for what it does not have. */
export interface Mail {
  subject: string
  /** address of the first sender */
  sender: string
  /** the first plain part */
  plain: string | null
  /** the first HTML part, as its sender wrote it */
  html: string | null
}

/** Levels of multipart inside each other that are followed, and parts that are looked into. */
const MAX_DEPTH = 16
const MAX_PARTS = 1_000
/** How often a mail's bytes are searched for boundaries: as deep as mails are nested in earnest. */
const MAX_SEARCHES = 4
/** Of the headers of all parts together: what a hostile message may make the header parser read. */
const MAX_HEADER_BYTES = 256 * 1024

/** Reads subject and searchable text of a mail; see `readMail`. */
export async function readMailText(raw: Uint8Array): Promise<MailText> {
  const { subject, plain, html } = await readMail(raw)
  return { subject, pieces: [plain, html === null ? null : htmlToText(html)].filter((piece) => piece !== null) }
}

/** What the evaluator is told of a mail's text, in one of two ways. */
export interface PackedText {
  /** null when it is longer than a message may carry */
  carried: MailText | null
  /** JSON list of subject and pieces, to be stored; null when it is carried */
  stored: Uint8Array | null
}

/** The searchable text of a mail, carried when its JSON has no more than `carriedBytes`. */
export async function packMailText(input: { raw: Uint8Array; carriedBytes: number }): Promise<PackedText> {
  const text = await readMailText(input.raw)
  const stored = Buffer.from(JSON.stringify([text.subject, ...text.pieces]))
  return stored.length <= input.carriedBytes ? { carried: text, stored: null } : { carried: null, stored }
}

/**
 * Reads a mail of any size. Never fails: what is malformed, or nested beyond reason, is left out. Headers are read by a
 * library. Bodies are not, since it keeps an object per line: a mail of nothing but line ends would take gigabytes;
 * here their cost is linear in the size and no part is copied that is not text.
 * @param bytes a prefix of the mail will do: the last part then ends where it ends
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
  /** for boundaries of all its parts together */
  boundaries: { bytesLeft: number }
}

interface Range {
  start: number
  end: number
}

/** Looks for the first body of each kind, depth first. @returns what the headers of the mail itself say */
async function findBodies(search: Search, { start, end }: Range, depth: number): Promise<Said> {
  search.partsLeft -= 1
  const { raw } = search
  const headers = await readMailHeaders(raw, start, end, search.headerBytesLeft)
  search.headerBytesLeft -= headers.bytes
  const said = depth === 0 ? readHeaderFields(headers) : NOTHING
  if (headerToken(headers.first('content-disposition')) === 'attachment') return said

  const contentType = headers.first('content-type')
  const type = headerToken(contentType) || 'text/plain'
  if (type.startsWith('multipart/')) {
    if (depth === MAX_DEPTH) return said
    const body = { start: headers.bodyStart, end }
    for (const part of splitParts(raw, body, headerParameter(contentType, 'boundary'), MAX_PARTS, search.boundaries)) {
      if ((search.plain !== null && search.html !== null) || search.partsLeft === 0) break
      // In a digest a part without a type is a whole message, which is no body.
      if (type !== 'multipart/digest') await findBodies(search, part, depth + 1)
      // What comes after the first part of these only belongs to it: pictures, styles.
      if (type === 'multipart/related') break
    }
    return said
  }
  const text = () => {
    const encoding = headerToken(headers.first('content-transfer-encoding'))
    const bytes = decodeTransfer(raw.subarray(headers.bodyStart, end), encoding)
    return decodeCharset(bytes, headerParameter(contentType, 'charset') || 'utf-8')
  }
  if (type === 'text/plain') search.plain ??= text()
  else if (type === 'text/html') search.html ??= text()
  return said
}

type Said = Pick<Mail, 'subject' | 'sender'>

const NOTHING: Said = { subject: '', sender: '' }
/** Characters of a From header that are looked at: the time of the library grows with their number. */
const MAX_FROM = 1_000

function readHeaderFields(headers: MailHeaders): Said {
  const [from] = addressParser(headers.first('from').slice(0, MAX_FROM), { flatten: true })
  return { subject: decodeHeaderText(headers.first('subject')), sender: from?.address ?? '' }
}
