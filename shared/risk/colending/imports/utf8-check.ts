import { isUtf8 } from 'node:buffer'

/** The file is not text from this line on. */
export class NotTextError extends Error {
  readonly line: number
  constructor(line: number) {
    super('the file is not UTF-8 text')
    this.line = line
  }
}

/** Text does not contain NUL, but UTF-16 does. */
export class Utf8Check {
  /** the beginning of a character whose end is in the next piece */
  #rest: Buffer = Buffer.alloc(0)
  #lines = 1
  #isAfterCr = false

  push(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const whole = bytes.subarray(0, bytes.length - incompleteTail(bytes))
    if (!isUtf8(whole) || whole.includes(0)) throw new NotTextError(this.#lineOf(whole))
    this.#lines += countLines(whole, this.#isAfterCr)
    this.#isAfterCr = whole.length === 0 ? this.#isAfterCr : whole.at(-1) === CR
    this.#rest = Buffer.from(bytes.subarray(whole.length))
  }

  /** Throws when the last character is incomplete. */
  end(): void {
    if (this.#rest.length > 0) throw new NotTextError(this.#lines)
  }

  #lineOf(bytes: Buffer): number {
    let good = 0
    let bad = bytes.length
    while (bad - good > 1) {
      const middle = (good + bad) >> 1
      const head = bytes.subarray(0, middle)
      const text = head.subarray(0, head.length - incompleteTail(head))
      if (isUtf8(text) && !text.includes(0)) good = middle
      else bad = middle
    }
    return this.#lines + countLines(bytes.subarray(0, good), this.#isAfterCr)
  }
}

function incompleteTail(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte > 0xf4) return 0
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

function lengthOf(first: number): number {
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
}

const LF = 10
const CR = 13

/** Lines end with LF, CR LF or CR. `isAfterCr` is true if the previous byte is a CR. */
function countLines(bytes: Buffer, isAfterCr: boolean): number {
  let lines = isAfterCr && bytes[0] === LF ? -1 : 0
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines++
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at + 1)) if (bytes[at + 1] !== LF) lines++
  return lines
}
