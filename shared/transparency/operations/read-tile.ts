import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError } from '../../errors.ts'
import { encodeEntryBundle } from '../anchoring/entry-bundle.ts'
import { latestCheckpoint, readEntries, readTiles } from '../anchoring/store.ts'
import { HASH_BYTES } from '../anchoring/text.ts'
import { parseTilePath, TILE_WIDTH, tileWidthAt } from '../anchoring/tile-path.ts'

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
