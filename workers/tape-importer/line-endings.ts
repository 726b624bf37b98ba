const LF = 10
const CR = 13

/**
 * Yields the bytes of a file with LF in place of CR LF and CR, so that each line ends on its own and is counted once,
 * also in quoted cells.
 */
export async function* withLineFeeds(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isAfterCr = false
  for await (const piece of bytes) {
    const [first] = piece
    if (first === undefined) continue
    const rest = isAfterCr && first === LF ? piece.subarray(1) : piece
    isAfterCr = piece.at(-1) === CR
    yield rest.includes(CR) ? converted(rest) : rest
  }
}

function converted(piece: Buffer): Buffer {
  const out = Buffer.allocUnsafe(piece.length)
  let length = 0
  for (const [at, byte] of piece.entries()) {
    if (byte === LF && piece[at - 1] === CR) continue
    out[length++] = byte === CR ? LF : byte
  }
  return out.subarray(0, length)
}
