import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { encodeEntryBundle } from '../anchoring/entry-bundle.ts'
import { proveConsistency, proveInclusion } from '../anchoring/merkle-proof.ts'
import { findEntry, latestCheckpoint, readEntries, readTiles } from '../anchoring/store.ts'
import { HASH_BYTES } from '../anchoring/text.ts'
import { parseTilePath, TILE_WIDTH, tileWidthAt } from '../anchoring/tile-path.ts'
import { tileHashReader, tilesNeeded } from '../anchoring/tiles.ts'

/**
 * Proves that the tree of `from` entries is the beginning of a published one (RFC 6962 section 2.1.2).
 * @param wanted `to`: size of that one, the newest when absent
 * @throws ValidationError naming the size that does not fit
 */
export async function proveExtension(
  db: Knex,
  env: ApiEnv,
  { from, to: wanted }: { from: number; to: number | undefined },
): Promise<{ from: number; to: number; proof: Uint8Array[] }> {
  const to = await publishedSize(db, env, 'to', wanted)
  if (from > to) throw rangeError('from', 'from must not be greater than to')
  const needed = tilesNeeded(to, (read) => proveConsistency(from, to, read))
  return { from, to, proof: proveConsistency(from, to, tileHashReader(to, await readTiles(db, env, needed))) }
}

/** An entry's place in a published tree, with its audit path (RFC 6962 section 2.1.1). */
export interface EntryProof {
  index: number
  size: number
  proof: Uint8Array[]
}

/**
 * Proves that a tree has an entry.
 * @param wanted `size` of the tree; the newest when absent
 * @throws ValidationError when no tree so large is published; NotFoundError when it has no such entry
 */
export async function proveEntry(
  db: Knex,
  env: ApiEnv,
  wanted: { leaf: Uint8Array; size: number | undefined },
): Promise<EntryProof> {
  const size = await publishedSize(db, env, 'size', wanted.size)
  const found = await findEntry(db, env, Buffer.from(wanted.leaf))
  if (!found || found.seq === null || found.seq >= size) throw new NotFoundError('the tree has no such entry')
  return { index: found.seq, size, proof: await inclusionProof(db, env, found.seq, size) }
}

/** The audit path of an entry in the tree of `size`, which must be published. */
export async function inclusionProof(db: Knex, env: ApiEnv, index: number, size: number): Promise<Uint8Array[]> {
  const needed = tilesNeeded(size, (read) => proveInclusion(index, size, read))
  return proveInclusion(index, size, tileHashReader(size, await readTiles(db, env, needed)))
}

/**
 * The size of a tree that is published.
 * @param name of the input that asks for it
 * @param wanted the newest when absent
 * @throws ValidationError when it is beyond the newest checkpoint
 */
async function publishedSize(db: Knex, env: ApiEnv, name: string, wanted: number | undefined): Promise<number> {
  const newest = (await latestCheckpoint(db, env))?.size ?? 0
  if (wanted !== undefined && wanted > newest) throw rangeError(name, `${name} is beyond the newest checkpoint`)
  return wanted ?? newest
}

/** One input that no tree has. */
export function rangeError(path: string, message: string): ValidationError {
  return new ValidationError(message, [{ path, code: 'OUT_OF_RANGE', message }])
}

/**
 * The bytes of a tile of hashes or a bundle of entries, which never change (C2SP tlog-tiles).
 * @param path `tile/<L>/<N>[.p/<W>]` or `tile/entries/<N>[.p/<W>]`
 * @throws NotFoundError for what no published checkpoint covers
 */
export async function readTile(db: Knex, env: ApiEnv, path: string): Promise<Uint8Array> {
  const tile = parseTilePath(path)
  const size = (await latestCheckpoint(db, env))?.size ?? 0
  const level = tile?.level === 'entries' ? 0 : (tile?.level ?? 0)
  // Only what a published checkpoint covers is shown, and never an empty tile.
  if (!tile || tileWidthAt(level, tile.index, size) < tile.width) throw new NotFoundError('there is no such tile')
  if (tile.level === 'entries') {
    const from = tile.index * TILE_WIDTH
    return encodeEntryBundle(await readEntries(db, env, from, from + tile.width))
  }
  const data = (await readTiles(db, env, [tile]))(tile)
  if (!data) throw new NotFoundError('there is no such tile')
  return data.subarray(0, tile.width * HASH_BYTES)
}
