import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { decodeCheckpoint } from '../anchoring/checkpoint.ts'
import { leafHash } from '../anchoring/merkle.ts'
import type { NoteKey } from '../anchoring/note-key.ts'
import { checkpointNotes, leafHashes, readEntries } from '../anchoring/store.ts'
import { equalBytes, toHex } from '../anchoring/text.ts'
import { appendToTiles, EMPTY_FRONTIER, frontierRoot } from '../anchoring/tiles.ts'

export interface StoredLog {
  /** 0 before the first checkpoint */
  size: number
  root: string
  /** with its position; null when the log is valid */
  problem: string | null
}

const BATCH = 10_000

/** Rebuilds the tree and compares hashes and the signed roots. */
export async function verifyStoredLog(db: Knex, env: ApiEnv, key: NoteKey): Promise<StoredLog> {
  let frontier = EMPTY_FRONTIER
  let result: StoredLog = { size: 0, root: '', problem: null }
  for (const { size, note } of await checkpointNotes(db, env)) {
    while (frontier.size < size) {
      const to = Math.min(size, frontier.size + BATCH)
      const entries = await readEntries(db, env, frontier.size, to)
      const leaves = await leafHashes(db, env, frontier.size, to)
      const wrong = leaves.findIndex((leaf, index) => !equalBytes(leaf, leafHash(entries[index] ?? new Uint8Array())))
      if (wrong >= 0) return { ...result, problem: `entry ${frontier.size + wrong} does not match its hash` }
      if (leaves.length < to - frontier.size)
        return { ...result, problem: `entry ${frontier.size + leaves.length} is missing` }
      frontier = appendToTiles(frontier, leaves).frontier
    }
    const root = frontierRoot(frontier)
    const signed = signedRoot(note, key)
    if (signed === null) return { ...result, problem: `the checkpoint of ${size} entries has no signature of this log` }
    if (!equalBytes(root, signed))
      return { ...result, problem: `the first ${size} entries do not have the signed root` }
    result = { size, root: toHex(root), problem: null }
  }
  return result
}

function signedRoot(note: string, key: NoteKey): Uint8Array | null {
  try {
    return decodeCheckpoint(note, [key]).checkpoint.root
  } catch {
    return null
  }
}
