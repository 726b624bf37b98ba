import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { decodeCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { leafHash, nodeHash, rootOf, verifyConsistency } from '#shared/transparency/anchoring/merkle.ts'
import { proveConsistency } from '#shared/transparency/anchoring/merkle-proof.ts'
import type { NoteKey } from '#shared/transparency/anchoring/note-key.ts'
import { anchorObject } from '#shared/transparency/anchoring/store.ts'

/** Stores entries as other code does, each in a separate transaction. @returns their txIds */
export async function storeEntries(db: Knex, count: number): Promise<string[]> {
  const txIds: string[] = []
  for (let at = 0; at < count; at++) {
    const timestamp = new Date(1_800_000_000_000 + at).toISOString()
    const object = { id: randomUUID(), eventType: 'test.recorded', timestamp }
    txIds.push((await anchorObject(db, 'SANDBOX', 'test.recorded', timestamp, object)).txId)
  }
  return txIds
}

export interface LogContents {
  /** published checkpoints, smallest first */
  sizes: number[]
  notes: string[]
  /** sequenced entries, in order */
  leaves: Uint8Array[]
  /** true unless the positions are 0, 1, 2 ... */
  hasGaps: boolean
}

export async function readLog(db: Knex): Promise<LogContents> {
  const checkpoints = await db('log_checkpoints').where({ env: 'SANDBOX' }).orderBy('size').select('size', 'note')
  const entries = await db('log_entries')
    .where({ env: 'SANDBOX' })
    .whereNotNull('seq')
    .orderBy('seq')
    .select('seq', 'entry')
  return {
    sizes: checkpoints.map(({ size }) => Number(size)),
    notes: checkpoints.map(({ note }) => note),
    leaves: entries.map(({ entry }) => leafHash(entry)),
    hasGaps: entries.some(({ seq }, at) => Number(seq) !== at),
  }
}

/**
 * Verifies every published checkpoint as an outsider would: our signature, the root over exactly the stored entries,
 * and consistency with the previous one by a proof computed from the entries.
 * @returns the problems found
 */
export function problemsOf(log: LogContents, key: NoteKey): string[] {
  const problems: string[] = log.hasGaps ? ['the positions have gaps'] : []
  let before = { size: 0, root: rootOf([]) }
  for (const note of log.notes) {
    const { checkpoint } = decodeCheckpoint(note, [key])
    const { size, root } = checkpoint
    if (size > log.leaves.length) problems.push(`${size} includes an entry that is not stored`)
    const expected = rootOf(log.leaves.slice(0, size))
    if (Buffer.compare(expected, root) !== 0) problems.push(`${size} has another root`)
    const proof = proveConsistency(before.size, size, (level, index) => subtree(log.leaves, level, index))
    if (before.size > 0 && !verifyConsistency(before.size, size, before.root, root, proof)) {
      problems.push(`${size} is not consistent with ${before.size}`)
    }
    before = { size, root }
  }
  return problems
}

function subtree(leaves: readonly Uint8Array[], level: number, index: number): Uint8Array {
  const leaf = leaves[index]
  if (level === 0 && leaf) return leaf
  return nodeHash(subtree(leaves, level - 1, index * 2), subtree(leaves, level - 1, index * 2 + 1))
}
