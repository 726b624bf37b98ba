import { AnchoringError } from './anchoring-error.ts'
import { EMPTY_ROOT, type HashReader, nodeHash } from './merkle.ts'
import { HASH_BYTES } from './text.ts'
import { edgeTiles, TILE_WIDTH, type TileId, tileWidthAt } from './tile-path.ts'

/** `data` has `width` hashes of 32 bytes. */
export interface Tile extends TileId {
  readonly data: Uint8Array
}

/** Hashes of unfinished tiles, by tile level; each list is shorter than 256. */
export interface Frontier {
  readonly size: number
  readonly levels: readonly (readonly Uint8Array[])[]
}

export const EMPTY_FRONTIER: Frontier = { size: 0, levels: [] }

/**
 * Loads the frontier of a tree from `edgeTiles(size)`.
 * @param read returns the bytes of a tile, or those of a wider one at the same place
 * @throws AnchoringError TILE_MISSING
 */
export function loadFrontier(size: number, read: (tile: TileId) => Uint8Array | undefined): Frontier {
  const levels: Uint8Array[][] = []
  for (const tile of edgeTiles(size)) {
    while (levels.length < tile.level) levels.push([])
    levels.push(hashesOf(tile, read(tile)))
  }
  return { size, levels }
}

/**
 * Returns the new frontier and the tiles to store. Deterministic, so that a repetition after a crash repairs the log.
 */
export function appendToTiles(
  before: Frontier,
  leafHashes: readonly Uint8Array[],
): { frontier: Frontier; tiles: Tile[] } {
  const levels: Uint8Array[][] = []
  const tiles: Tile[] = []
  let added: readonly Uint8Array[] = leafHashes
  let start = before.size
  for (let level = 0; level < before.levels.length || added.length > 0; level++) {
    const existing = before.levels[level] ?? []
    const hashes = [...existing, ...added]
    let index = Math.floor(start / TILE_WIDTH)
    let from = 0
    const roots: Uint8Array[] = []
    for (; hashes.length - from >= TILE_WIDTH; from += TILE_WIDTH, index++) {
      const full = hashes.slice(from, from + TILE_WIDTH)
      tiles.push({ level, index, width: TILE_WIDTH, data: Buffer.concat(full) })
      roots.push(completeRoot(full))
    }
    const rest = hashes.slice(from)
    if (rest.length > 0 && added.length > 0) tiles.push({ level, index, width: rest.length, data: Buffer.concat(rest) })
    levels.push(rest)
    start = Math.floor(start / TILE_WIDTH)
    added = roots
  }
  return { frontier: { size: before.size + leafHashes.length, levels }, tiles }
}

export function frontierRoot(frontier: Frontier): Uint8Array {
  let root: Uint8Array | undefined
  for (const hashes of frontier.levels) {
    let to = hashes.length
    // From the right: the smallest complete subtree first, by the bits of the width.
    for (let width = 1; to > 0; width *= 2) {
      if (to % (width * 2) === 0) continue
      const subtree = completeRoot(hashes.slice(to - width, to))
      root = root === undefined ? subtree : nodeHash(subtree, root)
      to -= width
    }
  }
  return root ?? EMPTY_ROOT
}

/** @param read returns the bytes of a tile, or those of a wider one at the same place */
export function tileHashReader(size: number, read: (tile: TileId) => Uint8Array | undefined): HashReader {
  return (level, index) => {
    const { tile, from, count } = locate(level, index, size)
    const data = read(tile)
    if (data === undefined) throw new AnchoringError('TILE_MISSING', `tile ${tile.level}/${tile.index} is missing`)
    return completeRoot(hashesOf(tile, data).slice(from, from + count))
  }
}

/** Returns the tiles that `compute` will read, so that a store can fetch them in one query. */
export function tilesNeeded(size: number, compute: (read: HashReader) => unknown): TileId[] {
  const needed = new Map<string, TileId>()
  compute((level, index) => {
    const { tile } = locate(level, index, size)
    needed.set(`${tile.level}/${tile.index}`, tile)
    return EMPTY_ROOT
  })
  return [...needed.values()]
}

function locate(level: number, index: number, size: number): { tile: TileId; from: number; count: number } {
  const tileLevel = Math.floor(level / 8)
  const count = 2 ** (level % 8)
  const first = index * count
  const tileIndex = Math.floor(first / TILE_WIDTH)
  const width = tileWidthAt(tileLevel, tileIndex, size)
  const from = first % TILE_WIDTH
  if (from + count > width) throw new AnchoringError('PROOF_RANGE', 'the tree is smaller than the requested range')
  return { tile: { level: tileLevel, index: tileIndex, width }, from, count }
}

function hashesOf(tile: TileId, data: Uint8Array | undefined): Uint8Array[] {
  if (data === undefined || data.length < tile.width * HASH_BYTES || data.length % HASH_BYTES !== 0)
    throw new AnchoringError('TILE_MISSING', `tile ${tile.level}/${tile.index} has too few hashes`)
  return Array.from({ length: tile.width }, (_, at) => data.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES))
}

function completeRoot(hashes: readonly Uint8Array[]): Uint8Array {
  let row = hashes
  while (row.length > 1) {
    const above: Uint8Array[] = []
    for (let at = 0; at + 1 < row.length; at += 2)
      above.push(nodeHash(row[at] ?? EMPTY_ROOT, row[at + 1] ?? EMPTY_ROOT))
    row = above
  }
  const [root] = row
  if (root === undefined) throw new AnchoringError('PROOF_RANGE', 'a subtree without hashes')
  return root
}
