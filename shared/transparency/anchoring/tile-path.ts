import { parseDecimal } from './text.ts'

/** Hashes in a full tile, entries in a full bundle (C2SP tlog-tiles). */
export const TILE_WIDTH = 256

/** `level` counts in steps of 8 tree levels; `width` is 256 when full. */
export interface TileId {
  readonly level: number
  readonly index: number
  readonly width: number
}

export interface BundleId {
  readonly level: 'entries'
  readonly index: number
  readonly width: number
}

/** `tile/<L>/<N>[.p/<W>]` or `tile/entries/<N>[.p/<W>]`, without a leading slash. */
export function tilePath(id: TileId | BundleId): string {
  const partial = id.width === TILE_WIDTH ? '' : `.p/${id.width}`
  return `tile/${id.level}/${indexPath(id.index)}${partial}`
}

/** `1234067` is `x001/x234/067`. */
export function indexPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g) ?? []
  return groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
}

const PATH = /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/

/** Accepts exactly the output of `tilePath`; undefined for anything else. */
export function parseTilePath(path: string): TileId | BundleId | undefined {
  const match = PATH.exec(path)
  if (match === null) return undefined
  const [, level = '', groups = '', partial] = match
  const index = Number(groups.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_WIDTH : Number(partial)
  if (!Number.isSafeInteger(index) || width < 1 || width > TILE_WIDTH) return undefined
  const id = level === 'entries' ? ({ level, index, width } as const) : parseLevel(level, index, width)
  return id !== undefined && tilePath(id) === path ? id : undefined
}

function parseLevel(level: string, index: number, width: number): TileId | undefined {
  const value = parseDecimal(level)
  return value === undefined || value > 6 ? undefined : { level: value, index, width }
}

/** A bundle has level 0; the width is 0 before it exists. */
export function tileWidthAt(level: number, index: number, size: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level)
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH))
}

/** The partial tiles at the right edge suffice to append to a tree. */
export function edgeTiles(size: number): TileId[] {
  const tiles: TileId[] = []
  for (let level = 0, hashes = size; hashes > 0; level++) {
    const width = hashes % TILE_WIDTH
    const index = Math.floor(hashes / TILE_WIDTH)
    if (width > 0) tiles.push({ level, index, width })
    hashes = index
  }
  return tiles
}
