import { AnchoringError } from './anchoring-error.ts'
import { EMPTY_ROOT, type HashReader, nodeHash } from './merkle.ts'

/** `read` returns the hashes of complete subtrees. */
export function rootAt(size: number, read: HashReader): Uint8Array {
  return size === 0 ? EMPTY_ROOT : subtreeRoot(0, size, read)
}

/** RFC 6962 section 2.1.1, leaf's sibling first. @throws AnchoringError PROOF_RANGE */
export function proveInclusion(index: number, size: number, read: HashReader): Uint8Array[] {
  if (!isWithin(index, size) || index === size)
    throw new AnchoringError('PROOF_RANGE', `no leaf ${index} in a tree of ${size}`)
  const path: Uint8Array[] = []
  let from = 0
  let to = size
  while (to - from > 1) {
    const middle = from + splitOf(to - from)
    if (index < middle) {
      path.push(subtreeRoot(middle, to, read))
      to = middle
    } else {
      path.push(subtreeRoot(from, middle, read))
      from = middle
    }
  }
  return path.reverse()
}

/** RFC 6962 section 2.1.2. @throws AnchoringError PROOF_RANGE */
export function proveConsistency(size1: number, size2: number, read: HashReader): Uint8Array[] {
  if (!isWithin(size1, size2)) throw new AnchoringError('PROOF_RANGE', `no tree of ${size1} before one of ${size2}`)
  if (size1 === 0 || size1 === size2) return []
  const path: Uint8Array[] = []
  let from = 0
  let to = size2
  while (size1 !== to) {
    const middle = from + splitOf(to - from)
    if (size1 <= middle) {
      path.push(subtreeRoot(middle, to, read))
      to = middle
    } else {
      path.push(subtreeRoot(from, middle, read))
      from = middle
    }
  }
  // The verifier knows the old root if the old tree is complete, that is, if the loop never went right.
  if (from > 0) path.push(subtreeRoot(from, to, read))
  return path.reverse()
}

/** RFC 6962's recursion reaches the range [from, to). */
function subtreeRoot(from: number, to: number, read: HashReader): Uint8Array {
  const width = to - from
  const left = splitOf(width)
  if (width === 1 || left * 2 === width) return read(Math.round(Math.log2(width)), from / width)
  return nodeHash(subtreeRoot(from, from + left, read), subtreeRoot(from + left, to, read))
}

/** The largest power of two below `width` (RFC 6962 section 2.1); 1 for 1. */
function splitOf(width: number): number {
  let split = 1
  while (split * 2 < width) split *= 2
  return split
}

function isWithin(value: number, limit: number): boolean {
  return Number.isSafeInteger(value) && Number.isSafeInteger(limit) && value >= 0 && value <= limit
}
