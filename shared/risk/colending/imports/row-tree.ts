import { AnchoringError } from '../../../transparency/anchoring/anchoring-error.ts'
import {
  appendToRange,
  type CompactRange,
  compactRoot,
  leafHash,
  rootOf,
} from '../../../transparency/anchoring/merkle.ts'
import { proveInclusion } from '../../../transparency/anchoring/merkle-proof.ts'

/** Rows of a block. Block roots are stored, so that a proof reads two blocks and not all rows. */
export const BLOCK_ROWS = 512
const BLOCK_LEVEL = 9
const HASH_BYTES = 32

/** Rows are in the order of the file (RFC 6962). */
export interface RowTree {
  range: CompactRange
  blockRoots: Buffer[]
}

export function emptyTree(): RowTree {
  return { range: { size: 0, nodes: [] }, blockRoots: [] }
}

/** 512 rows, fewer only at the end. */
export function addBlock(tree: RowTree, rows: readonly Uint8Array[]): RowTree {
  const leaves = rows.map(leafHash)
  const range = appendToRange(tree.range, leaves)
  if (rows.length < BLOCK_ROWS) return { ...tree, range }
  tree.blockRoots.push(Buffer.from(rootOf(leaves)))
  return { range, blockRoots: tree.blockRoots }
}

export function treeRoot(tree: RowTree): string {
  return Buffer.from(compactRoot(tree.range)).toString('hex')
}

export function blockStart(index: number): number {
  return index - (index % BLOCK_ROWS)
}

/** The path begins with the sibling. `leavesOf` returns the block that begins at a row. */
export function proveRow(
  index: number,
  size: number,
  blockRoots: Buffer,
  leavesOf: ReadonlyMap<number, readonly Uint8Array[]>,
): string[] {
  const known = new Map([...leavesOf].map(([start, rows]) => [start, rows.map(leafHash)]))
  const read = (level: number, at: number): Uint8Array => {
    if (level >= BLOCK_LEVEL) {
      const width = 2 ** (level - BLOCK_LEVEL)
      const roots = Array.from({ length: width }, (_, n) => {
        const from = (at * width + n) * HASH_BYTES
        return blockRoots.subarray(from, from + HASH_BYTES)
      })
      return rootOf(roots)
    }
    const from = at * 2 ** level
    const start = blockStart(from)
    const leaves = known.get(start)?.slice(from - start, from - start + 2 ** level)
    if (leaves?.length !== 2 ** level) throw new AnchoringError('PROOF_RANGE', `the leaves from ${from} are unknown`)
    return rootOf(leaves)
  }
  return proveInclusion(index, size, read).map((node) => Buffer.from(node).toString('hex'))
}
