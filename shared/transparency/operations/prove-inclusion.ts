import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError } from '../../errors.ts'
import { proveInclusion } from '../anchoring/merkle-proof.ts'
import { findEntry, readTiles } from '../anchoring/store.ts'
import { tileHashReader, tilesNeeded } from '../anchoring/tiles.ts'
import { publishedSize } from './published-size.ts'

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
