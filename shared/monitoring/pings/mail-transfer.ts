/** Undoes a part's transfer encoding. Unknown ones, 7bit, 8bit and binary leave the bytes as they are. */
export function decodeTransfer(bytes: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(bytes.toString('latin1'), 'base64')
  return encoding === 'quoted-printable' ? decodeQuotedPrintable(bytes) : bytes
}

/** A `=` that begins neither two hex digits nor a soft line break stays, as mail programs do. */
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

/** `skip` is what to pass over after the `=`; `byte` is null for a soft line break. */
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
const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a
