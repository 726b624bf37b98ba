interface Range {
  start: number
  end: number
}

/** Longer boundaries are no boundaries (RFC 2046 allows 70). */
const MAX_BOUNDARY = 200
/** Lines that merely begin like a boundary and are passed over, before the rest is taken as one part. */
const MAX_LOOKALIKES = 10_000

/**
 * The parts of a multipart body, in order, without the line end that belongs to the boundary after them. A body that
 * ends without its closing boundary ends the last part. Nothing is copied.
 * @param limit parts to give at most
 * @param budget of bytes that may be searched, for all calls about one mail; what lies beyond it is not split
 */
export function splitParts(
  raw: Buffer,
  body: Range,
  boundary: string,
  limit: number,
  budget: { bytesLeft: number },
): Range[] {
  if (boundary === '' || boundary.length > MAX_BOUNDARY) return []
  // As the bytes came: header values were read as UTF-8.
  const delimiter = Buffer.from(`\n--${boundary}`)
  const parts: Range[] = []
  let start: number | null = null
  let lookalikes = 0
  // The line end before the first boundary is the one that ends the headers.
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
    // The same line end may begin the next boundary, when the part is empty.
    at = Math.max(found + 1, tail.next - 1)
  }
  if (start !== null && parts.length < limit) parts.push({ start, end: body.end })
  return parts
}

/** What follows the boundary on its line; null when there is more than white space, so that it is none. */
function readTail(raw: Buffer, from: number, end: number): { isLast: boolean; next: number } | null {
  const isLast = raw[from] === DASH && raw[from + 1] === DASH && from + 2 <= end
  let at = isLast ? from + 2 : from
  while (at < end && (raw[at] === SPACE || raw[at] === TAB || raw[at] === CARRIAGE_RETURN)) at += 1
  if (at >= end) return { isLast, next: end }
  return raw[at] === LINE_FEED ? { isLast, next: at + 1 } : null
}

const DASH = 0x2d
const SPACE = 0x20
const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
