import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { proveConsistency } from '../anchoring/merkle-proof.ts'
import { readTiles } from '../anchoring/store.ts'
import { tileHashReader, tilesNeeded } from '../anchoring/tiles.ts'
import { publishedSize, rangeError } from './published-size.ts'

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
  if (from > to) throw rangeError('from', 'from is larger than to')
  const needed = tilesNeeded(to, (read) => proveConsistency(from, to, read))
  return { from, to, proof: proveConsistency(from, to, tileHashReader(to, await readTiles(db, env, needed))) }
}
