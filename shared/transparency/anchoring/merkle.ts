import { hash } from 'node:crypto'
import { AnchoringError } from './anchoring-error.ts'
import { equalBytes, HASH_BYTES } from './text.ts'

/** RFC 6962 section 2.1 */
export const EMPTY_ROOT: Uint8Array = hash('sha256', '', 'buffer')

/** Level 0 has the leaves. Throws when there is no complete subtree. */
export type HashReader = (level: number, index: number) => Uint8Array

/** SHA-256(0x00 || entry) (RFC 6962 section 2.1) */
export function leafHash(entry: Uint8Array): Uint8Array {
  const input = Buffer.allocUnsafe(entry.length + 1)
  input[0] = 0
  input.set(entry, 1)
  return hash('sha256', input, 'buffer')
}

const nodeInput = Buffer.alloc(1 + 2 * HASH_BYTES, 1)

/** SHA-256(0x01 || left || right) (RFC 6962 section 2.1) */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeInput.set(left, 1)
  nodeInput.set(right, 1 + HASH_BYTES)
  return hash('sha256', nodeInput, 'buffer')
}

export function rootOf(leafHashes: readonly Uint8Array[]): Uint8Array {
  return compactRoot(appendToRange({ size: 0, nodes: [] }, leafHashes))
}

/** One root per complete subtree, leftmost first, one for each 1 bit of `size`. */
export interface CompactRange {
  readonly size: number
  readonly nodes: readonly Uint8Array[]
}

export function appendToRange(range: CompactRange, leafHashes: readonly Uint8Array[]): CompactRange {
  const nodes = [...range.nodes]
  let size = range.size
  for (const leaf of leafHashes) {
    let node = leaf
    // Each trailing 1 bit of the size is a complete subtree that merges with the new one.
    for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = nodes.pop()
      if (left === undefined) throw new AnchoringError('PROOF_RANGE', 'the compact range does not fit its size')
      node = nodeHash(left, node)
    }
    nodes.push(node)
    size++
  }
  return { size, nodes }
}

export function compactRoot(range: CompactRange): Uint8Array {
  let root: Uint8Array | undefined
  for (const node of range.nodes.toReversed()) root = root === undefined ? node : nodeHash(node, root)
  return root ?? EMPTY_ROOT
}

/** RFC 9162 section 2.1.3.2; the proof is attacker-controlled. */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes([leaf, root, ...proof])) return false
  let fn = index
  let sn = size - 1
  let computed = leaf
  for (const node of proof) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      computed = nodeHash(node, computed)
      while (fn % 2 === 0 && fn !== 0) {
        fn /= 2
        sn = half(sn)
      }
    } else computed = nodeHash(computed, node)
    fn = half(fn)
    sn = half(sn)
  }
  return sn === 0 && equalBytes(computed, root)
}

/** RFC 9162 section 2.1.4.2. From size 0 only the empty tree can be proven. */
export function verifyConsistency(
  size1: number,
  size2: number,
  root1: Uint8Array,
  root2: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (!isSize(size1) || !isSize(size2) || size1 > size2) return false
  if (size1 === size2)
    return proof.length === 0 && equalBytes(root1, root2) && (size1 > 0 || equalBytes(root1, EMPTY_ROOT))
  if (size1 === 0 || !areHashes([root1, root2, ...proof])) return false
  const path = isPowerOfTwo(size1) ? [root1, ...proof] : proof
  const [first, ...rest] = path
  if (first === undefined || proof.length === 0) return false
  let fn = size1 - 1
  let sn = size2 - 1
  while (fn % 2 === 1) {
    fn = half(fn)
    sn = half(sn)
  }
  let from = first
  let to = first
  for (const node of rest) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      from = nodeHash(node, from)
      to = nodeHash(node, to)
      while (fn % 2 === 0 && fn !== 0) {
        fn /= 2
        sn = half(sn)
      }
    } else to = nodeHash(to, node)
    fn = half(fn)
    sn = half(sn)
  }
  return sn === 0 && equalBytes(from, root1) && equalBytes(to, root2)
}

function half(value: number): number {
  return Math.floor(value / 2)
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}

function areHashes(values: readonly Uint8Array[]): boolean {
  // A tree of 2^53 leaves needs at most 54 nodes; the limit bounds the work for larger input.
  return values.length <= 66 && values.every((value) => value.length === HASH_BYTES)
}

function isPowerOfTwo(value: number): boolean {
  let rest = value
  while (rest > 1 && rest % 2 === 0) rest /= 2
  return rest === 1
}
