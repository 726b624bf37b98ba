import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError, ValidationError } from '../../errors.ts'
import { encodeEntryBundle } from '../anchoring/entry-bundle.ts'
import { proveConsistency, proveInclusion } from '../anchoring/merkle-proof.ts'
import { findEntry, latestCheckpoint, readEntries, readTiles } from '../anchoring/store.ts'
import { HASH_BYTES } from '../anchoring/text.ts'
import { parseTilePath, TILE_WIDTH, tileWidthAt } from '../anchoring/tile-path.ts'
import { tileHashReader, tilesNeeded } from '../anchoring/tiles.ts'

/** RFC 6962 section 2.1.2. @throws ValidationError */
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

/** RFC 6962 section 2.1.1 */
export interface EntryProof {
  index: number
  size: number
  proof: Uint8Array[]
}

/** @throws ValidationError; NotFoundError */
export async function proveEntry(
  db: Knex,
  env: ApiEnv,
  wanted: { leaf: Uint8Array; size: number | undefined },
): Promise<EntryProof> {
  const size = await publishedSize(db, env, 'size', wanted.size)
  const found = await findEntry(db, env, Buffer.from(wanted.leaf))
  if (!found || found.seq === null || found.seq >= size) throw new NotFoundError('the tree does not contain this entry')
  return { index: found.seq, size, proof: await inclusionProof(db, env, found.seq, size) }
}

export async function inclusionProof(db: Knex, env: ApiEnv, index: number, size: number): Promise<Uint8Array[]> {
  const needed = tilesNeeded(size, (read) => proveInclusion(index, size, read))
  return proveInclusion(index, size, tileHashReader(size, await readTiles(db, env, needed)))
}

/** The newest by default. @throws ValidationError naming the request's member */
async function publishedSize(db: Knex, env: ApiEnv, name: string, wanted: number | undefined): Promise<number> {
  const newest = (await latestCheckpoint(db, env))?.size ?? 0
  if (wanted !== undefined && wanted > newest) throw rangeError(name, `${name} is beyond the newest checkpoint`)
  return wanted ?? newest
}

export function rangeError(path: string, message: string): ValidationError {
  return new ValidationError(message, [{ path, code: 'OUT_OF_RANGE', message }])
}

/** Never changes (C2SP tlog-tiles). @throws NotFoundError before its checkpoint */
export async function readTile(db: Knex, env: ApiEnv, path: string): Promise<Uint8Array> {
  const tile = parseTilePath(path)
  const size = (await latestCheckpoint(db, env))?.size ?? 0
  const level = tile?.level === 'entries' ? 0 : (tile?.level ?? 0)
  // Returns only tiles that a published checkpoint covers, and never an empty one.
  if (!tile || tileWidthAt(level, tile.index, size) < tile.width) throw new NotFoundError('tile not found')
  if (tile.level === 'entries') {
    const from = tile.index * TILE_WIDTH
    return encodeEntryBundle(await readEntries(db, env, from, from + tile.width))
  }
  const data = (await readTiles(db, env, [tile]))(tile)
  if (!data) throw new NotFoundError('tile not found')
  return data.subarray(0, tile.width * HASH_BYTES)
}
