import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { decodeEntryBundle, encodeEntryBundle } from '#shared/transparency/anchoring/entry-bundle.ts'
import { leafHash, rootOf, verifyConsistency, verifyInclusion } from '#shared/transparency/anchoring/merkle.ts'
import { proveConsistency, proveInclusion, rootAt } from '#shared/transparency/anchoring/merkle-proof.ts'
import {
  edgeTiles,
  indexPath,
  parseTilePath,
  TILE_WIDTH,
  tilePath,
  tileWidthAt,
} from '#shared/transparency/anchoring/tile-path.ts'
import {
  appendToTiles,
  EMPTY_FRONTIER,
  type Frontier,
  frontierRoot,
  loadFrontier,
  type Tile,
  tileHashReader,
  tilesNeeded,
} from '#shared/transparency/anchoring/tiles.ts'

interface VectorTile {
  level: number
  path?: string
  index?: number
  width?: number
  bytes?: number
  sha256?: string
}
interface Vectors {
  syntheticTree: {
    rootsBySize: Record<string, string>
    inclusion: { leafIndex: number; treeSize: number; proof: string[] }[]
    consistency: { size1: number; size2: number; proof: string[] }[]
    tilesAtSize300: VectorTile[]
    tilesAtSize70000: VectorTile[]
    entryBundles: { path: string; bytes: number; sha256: string; firstBytesHex: string }[]
  }
  tilePaths: { index: number; path: string }[]
}
const vectors: Vectors = JSON.parse(readFileSync(new URL('../../../vectors/merkle.json', import.meta.url), 'utf8'))
const synthetic = vectors.syntheticTree
const entries = Array.from({ length: 70_000 }, (_, at) => Buffer.from(`leaf-${at}`))
const leaves = entries.map(leafHash)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const hexes = (hashes: readonly Uint8Array[]): string[] => hashes.map((hash) => Buffer.from(hash).toString('hex'))

/** Returns the published files of a log by path; grows it to `size` in uneven batches. */
function grow(size: number): { stored: Map<string, Uint8Array>; frontier: Frontier } {
  const stored = new Map<string, Uint8Array>()
  let frontier = EMPTY_FRONTIER
  for (let batch = 1; frontier.size < size; batch = (batch * 7) % 9973) {
    const grown = appendToTiles(frontier, leaves.slice(frontier.size, Math.min(size, frontier.size + batch)))
    for (const tile of grown.tiles) stored.set(tilePath(tile), tile.data)
    frontier = grown.frontier
  }
  return { stored, frontier }
}

const at300 = grow(300)
const at70000 = grow(70_000)

for (const [size, tiles, { stored }] of [
  [300, synthetic.tilesAtSize300, at300],
  [70_000, synthetic.tilesAtSize70000, at70000],
] as const)
  test(`a log of ${size} entries has the published tiles`, (t) => {
    for (const { path, bytes, sha256: expected } of tiles) {
      if (path === undefined) continue
      const data = stored.get(path)
      t.is(data?.length, bytes)
      t.is(data && sha256(data), expected)
    }
  })

test('leaves, frontier and tiles give the published roots', (t) => {
  const read = readTiles(70_000, at70000.stored)
  for (const [size, root] of Object.entries(synthetic.rootsBySize)) {
    const count = Number(size)
    t.is(hexes([rootOf(leaves.slice(0, count))])[0], root)
    t.is(hexes([frontierRoot(appendToTiles(EMPTY_FRONTIER, leaves.slice(0, count)).frontier)])[0], root)
    t.is(hexes([rootAt(count, read)])[0], root)
  }
})

test('proofs computed from tiles equal the published ones and verify', (t) => {
  const root = (size: number): Uint8Array => Buffer.from(synthetic.rootsBySize[size] ?? '', 'hex')
  const read = readTiles(70_000, at70000.stored)
  for (const { leafIndex, treeSize, proof } of synthetic.inclusion) {
    const made = proveInclusion(leafIndex, treeSize, read)
    t.deepEqual(hexes(made), proof)
    t.true(verifyInclusion(leaves[leafIndex] ?? root(1), leafIndex, treeSize, made, root(treeSize)))
  }
  for (const { size1, size2, proof } of synthetic.consistency) {
    const made = proveConsistency(size1, size2, read)
    t.deepEqual(hexes(made), proof)
    t.true(verifyConsistency(size1, size2, root(size1), root(size2), made))
  }
})

test('a proof needs only a few tiles, which are known in advance', (t) => {
  const needed = tilesNeeded(70_000, (read) => proveInclusion(69_999, 70_000, read))
  t.true(needed.length <= 4)
  const only = new Map(needed.map((tile) => [tilePath(tile), at70000.stored.get(tilePath(tile)) ?? new Uint8Array()]))
  t.is(proveInclusion(69_999, 70_000, readTiles(70_000, only)).length, 9)
  t.throws(() => proveInclusion(0, 70_000, readTiles(70_000, only)), { code: 'TILE_MISSING' })
})

test('a frontier loaded from partial tiles continues with the same bytes', (t) => {
  for (const size of [0, 1, 255, 256, 257, 65_535, 65_536, 65_537]) {
    const { stored, frontier } = grow(size)
    const loaded = loadFrontier(size, (tile) => stored.get(tilePath(tile)))
    t.deepEqual(frontierRoot(loaded), frontierRoot(frontier))
    const more = leaves.slice(size, size + 600)
    t.deepEqual(withoutBuffers(appendToTiles(loaded, more).tiles), withoutBuffers(appendToTiles(frontier, more).tiles))
  }
  t.throws(() => loadFrontier(300, () => undefined), { code: 'TILE_MISSING' })
  t.throws(() => loadFrontier(300, () => new Uint8Array(31)), { code: 'TILE_MISSING' })
})

test('an empty batch writes no tile', (t) => {
  t.deepEqual(appendToTiles(at300.frontier, []).tiles, [])
  t.deepEqual(edgeTiles(0), [])
  t.deepEqual(edgeTiles(65_536), [{ level: 2, index: 0, width: 1 }])
  const { tiles } = appendToTiles(EMPTY_FRONTIER, leaves.slice(0, 512))
  t.deepEqual(tiles.map(tilePath), ['tile/0/000', 'tile/0/001', 'tile/1/000.p/2'])
})

test('entry bundles have the published bytes and are decoded', (t) => {
  for (const { path, bytes, sha256: expected, firstBytesHex } of synthetic.entryBundles) {
    const id = parseTilePath(path)
    const from = (id?.index ?? 0) * TILE_WIDTH
    const slice = entries.slice(from, from + (id?.width ?? 0))
    const bundle = encodeEntryBundle(slice)
    t.is(bundle.length, bytes)
    t.is(sha256(bundle), expected)
    t.true(Buffer.from(bundle).toString('hex').startsWith(firstBytesHex))
    t.deepEqual(hexes(decodeEntryBundle(bundle, slice.length)), hexes(slice))
    for (const broken of [bundle.subarray(1), bundle.subarray(0, -1), Buffer.concat([bundle, Buffer.alloc(1)])])
      t.throws(() => decodeEntryBundle(broken, slice.length), { code: 'TILE_MALFORMED' })
    t.throws(() => decodeEntryBundle(bundle, slice.length - 1), { code: 'TILE_MALFORMED' })
    t.throws(() => decodeEntryBundle(bundle, slice.length + 1), { code: 'TILE_MALFORMED' })
  }
  t.throws(() => encodeEntryBundle([Buffer.alloc(65_536)]), { code: 'ENTRY_MALFORMED' })
})

test('tile paths are formatted and parsed as published', (t) => {
  for (const { index, path } of vectors.tilePaths) {
    t.is(indexPath(index), path)
    t.deepEqual(parseTilePath(`tile/0/${path}`), { level: 0, index, width: 256 })
    t.deepEqual(parseTilePath(`tile/entries/${path}.p/7`), { level: 'entries', index, width: 7 })
  }
})

for (const path of [
  'tile/0/0',
  'tile/0/x000/001',
  'tile/00/001',
  'tile/0/001.p/256',
  'tile/0/001.p/0',
  'tile/0/001.p/07',
  'tile/0/001.p/',
  'tile/7/000',
  'tile/-1/000',
  'tile/0/001/',
  '/tile/0/001',
  'tile/0/x999/x999/x999/x999/x999/999',
  'tile/0/../001',
  'tile/data/001',
  'tile/0/001\n',
])
  test(`the path ${JSON.stringify(path)} is not a tile path`, (t) => {
    t.is(parseTilePath(path), undefined)
  })

test('the width of a tile depends on the size of the tree', (t) => {
  t.is(tileWidthAt(0, 0, 0), 0)
  t.is(tileWidthAt(0, 1, 300), 44)
  t.is(tileWidthAt(0, 0, 300), 256)
  t.is(tileWidthAt(1, 1, 70_000), 17)
  t.is(tileWidthAt(2, 0, 70_000), 1)
})

test('appending in batches reaches the full size', (t) => {
  const started = performance.now()
  let frontier = EMPTY_FRONTIER
  for (let from = 0; from < entries.length; from += 5000) {
    frontier = appendToTiles(frontier, entries.slice(from, from + 5000).map(leafHash)).frontier
    frontierRoot(frontier)
  }
  const seconds = (performance.now() - started) / 1000
  t.log(`${Math.round(entries.length / seconds)} entries hashed, tiled and rooted a second, in batches of 5000`)
  t.is(frontier.size, entries.length)
})

function readTiles(size: number, stored: Map<string, Uint8Array>): ReturnType<typeof tileHashReader> {
  return tileHashReader(size, (tile) => stored.get(tilePath(tile)))
}

function withoutBuffers(tiles: readonly Tile[]): unknown[] {
  return tiles.map((tile) => [tilePath(tile), sha256(tile.data)])
}
