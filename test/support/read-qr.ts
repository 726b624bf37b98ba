/** A page as pixels, row by row, from 0 for black to 255. */
export interface Picture {
  width: number
  pixels: Uint8Array
}

/** Blocks of level M by version: how many, and the data bytes of each. ISO/IEC 18004, table 9. */
const BLOCKS: Readonly<Record<number, readonly number[]>> = {
  4: [32, 32],
  5: [43, 43],
  6: [27, 27, 27, 27],
  7: [31, 31, 31, 31],
  8: [38, 38, 39, 39],
  9: [36, 36, 36, 37, 37],
  10: [43, 43, 43, 43, 44],
}

/** Middles of the alignment patterns by version. ISO/IEC 18004, table E.1. */
const ALIGNED: Readonly<Record<number, readonly number[]>> = {
  4: [6, 26],
  5: [6, 30],
  6: [6, 34],
  7: [6, 22, 38],
  8: [6, 24, 42],
  9: [6, 26, 46],
  10: [6, 28, 50],
}

const MASKS: readonly ((row: number, column: number) => boolean)[] = [
  (i, j) => (i + j) % 2 === 0,
  (i) => i % 2 === 0,
  (_, j) => j % 3 === 0,
  (i, j) => (i + j) % 3 === 0,
  (i, j) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2 === 0,
  (i, j) => ((i * j) % 2) + ((i * j) % 3) === 0,
  (i, j) => (((i * j) % 2) + ((i * j) % 3)) % 2 === 0,
  (i, j) => (((i + j) % 2) + ((i * j) % 3)) % 2 === 0,
]

/**
 * Returns the content of the QR code on a picture, without its error correction: the picture is a drawing, not a
 * photograph. The code is the only thing in pure black, of level M, in bytes or digits, and upright.
 * @throws Error if it is not such a code, or if its quiet zone is not empty
 */
export function readQr(picture: Picture): string {
  const modules = modulesOf(picture)
  const version = (modules.length - 17) / 4
  const blocks = BLOCKS[version]
  if (!blocks) throw new Error(`a code of ${modules.length} modules is not one that is read here`)
  // Level and mask are beside the upper left finder, under a separate mask.
  const format = Number.parseInt(bitsOf(modules[8]?.slice(0, 5) ?? []), 2) ^ 0b10101
  const mask = MASKS[format & 7]
  if (format >> 3 !== 0 || !mask) throw new Error('the code is not of level M')
  const bits = deinterleaved(bitsOf(dataModules(modules, version, mask)), blocks)
  return textOf(bits, version)
}

/** Reads segments of bytes and of digits until the terminator: a long run of digits is a separate segment. */
function textOf(bits: string, version: number): string {
  let at = 0
  const take = (count: number) => {
    at += count
    return bits.slice(at - count, at)
  }
  const number = (count: number) => Number.parseInt(take(count), 2)
  const parts: Buffer[] = []
  for (let mode = take(4); mode !== '0000' && mode !== ''; mode = take(4)) {
    if (mode === '0100') {
      const length = number(version < 10 ? 8 : 16)
      parts.push(Buffer.from(bytesOf(take(length * 8))))
    } else if (mode === '0001') {
      for (let left = number(version < 10 ? 10 : 12); left > 0; left -= 3) {
        const digits = Math.min(left, 3)
        parts.push(Buffer.from(String(number(digits * 3 + 1)).padStart(digits, '0')))
      }
    } else throw new Error(`the code has a segment of mode ${mode}`)
  }
  return Buffer.concat(parts).toString()
}

function modulesOf({ width, pixels }: Picture): boolean[][] {
  const isBlack = (x: number, y: number) => (pixels[y * width + x] ?? 255) < 8
  let [left, top, right, bottom] = [width, pixels.length / width, 0, 0]
  for (let at = 0; at < pixels.length; at++) {
    if ((pixels[at] ?? 255) >= 8) continue
    const [x, y] = [at % width, Math.floor(at / width)]
    left = Math.min(left, x)
    right = Math.max(right, x + 1)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y + 1)
  }
  let finder = 0
  while (isBlack(left + finder, top + 1)) finder++
  // Pixels are no finer than this: a code of version n has 17 + 4n modules a side.
  const size = 17 + 4 * Math.round((((right - left) / finder) * 7 - 17) / 4)
  const module = (right - left) / size
  const quiet = Math.floor(module * 4)
  // The pixels of its edge may be half black.
  const isOutside = (x: number, y: number) => x < left - 1 || x > right || y < top - 1 || y > bottom
  for (let y = top - quiet; y < bottom + quiet; y++)
    for (let x = left - quiet; x < right + quiet; x++)
      if (isOutside(x, y) && (pixels[y * width + x] ?? 255) < 250)
        throw new Error(`something stands in the quiet zone of the code, at ${x}, ${y}`)
  return range(size).map((row) =>
    range(size).map((column) =>
      isBlack(Math.floor(left + (column + 0.5) * module), Math.floor(top + (row + 0.5) * module)),
    ),
  )
}

/** In pairs of columns from the right, alternately upwards and downwards, without the fixed patterns. */
function dataModules(
  modules: readonly boolean[][],
  version: number,
  mask: (row: number, column: number) => boolean,
): boolean[] {
  const size = modules.length
  const isData = dataPlaces(size, version)
  const columns = range(size)
    .toReversed()
    .filter((column) => column !== 6)
  return range(columns.length / 2).flatMap((pair) => {
    const rows = pair % 2 === 0 ? range(size).toReversed() : range(size)
    return rows.flatMap((row) =>
      columns
        .slice(pair * 2, pair * 2 + 2)
        .filter((column) => isData(row, column))
        .map((column) => (modules[row]?.[column] ?? false) !== mask(row, column)),
    )
  })
}

function dataPlaces(size: number, version: number): (row: number, column: number) => boolean {
  const middles = ALIGNED[version] ?? []
  const last = size - 7
  const isCorner = (row: number, column: number) =>
    (row < 9 && column < 9) || (row < 9 && column > last - 2) || (row > last - 2 && column < 9)
  const aligned = middles.flatMap((row) =>
    middles.filter((column) => !isCorner(row, column)).map((column) => [row, column] as const),
  )
  const isVersion = (a: number, b: number) => version >= 7 && a < 6 && b >= size - 11 && b < size - 8
  return (row, column) =>
    row !== 6 &&
    column !== 6 &&
    !isCorner(row, column) &&
    !isVersion(row, column) &&
    !isVersion(column, row) &&
    !aligned.some(([y, x]) => Math.abs(y - row) <= 2 && Math.abs(x - column) <= 2)
}

/** The data of all blocks, one block after the other: in the code their bytes alternate. */
function deinterleaved(bits: string, blocks: readonly number[]): string {
  const bytes = bits.match(/.{8}/g) ?? []
  const found = blocks.map(() => [] as string[])
  for (let at = 0, next = 0; at < Math.max(...blocks); at++)
    for (const [block, length] of blocks.entries()) if (at < length) found[block]?.push(bytes[next++] ?? '')
  return found.flat().join('')
}

const range = (length: number) => Array.from({ length }, (_, at) => at)
const bitsOf = (modules: readonly boolean[]) => modules.map(Number).join('')
const bytesOf = (bits: string) => (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
