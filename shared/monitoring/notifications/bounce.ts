import { headerParameter, headerToken, readMailHeaders } from '../pings/mail-headers.ts'
import { splitParts } from '../pings/mail-parts.ts'

const HEADER_LIMIT = 32_768
const MAX_PARTS = 10
const SEARCHED_BYTES = 1_000_000

/**
 * Reads a mail that says what became of another one (RFC 3464).
 * @returns whom it is addressed to, and its first status; empty where it has none
 */
export async function readBounce(raw: Buffer): Promise<{ to: string; status: string }> {
  const headers = await readMailHeaders(raw, 0, raw.length, HEADER_LIMIT)
  const boundary = headerParameter(headers.first('content-type'), 'boundary')
  const body = { start: headers.bodyStart, end: raw.length }
  const parts = splitParts(raw, body, boundary, MAX_PARTS, { bytesLeft: SEARCHED_BYTES })
  for (const { start, end } of parts) {
    const part = await readMailHeaders(raw, start, end, HEADER_LIMIT)
    if (headerToken(part.first('content-type')) !== 'message/delivery-status') continue
    const text = raw.toString('latin1', part.bodyStart, Math.min(end, part.bodyStart + HEADER_LIMIT))
    const [, status = ''] = /^Status:[ \t]*([245]\.[0-9]{1,3}\.[0-9]{1,3})/im.exec(text) ?? []
    return { to: headers.first('to'), status }
  }
  return { to: headers.first('to'), status: '' }
}
