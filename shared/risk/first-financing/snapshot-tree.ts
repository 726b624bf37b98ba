import { leafHash, nodeHash } from '../../transparency/anchoring/merkle.ts'
import { proveInclusion, rootAt } from '../../transparency/anchoring/merkle-proof.ts'
import { snapshotKey } from '../../transparency/provenance/absence.ts'

const KEY_BYTES = 32
/** Multiple of a snapshot's size, which hides the number (docs/spec/evidence-families.md#absence-proofs). */
const PADDED_TO = 256

/** A key next to the searched one. */
export interface Neighbour {
  index: number
  /** hex */
  key: string
  /** hex hashes, the leaf's sibling first */
  path: string[]
}

/** Sorted, padded with random keys. */
export function snapshotKeys(fingerprints: readonly string[], random: (size: number) => Buffer): Buffer {
  const keys = fingerprints.map((fingerprint) => snapshotKey(Buffer.from(fingerprint, 'hex')))
  const size = Math.max(1, Math.ceil(keys.length / PADDED_TO)) * PADDED_TO
  while (keys.length < size) keys.push(random(KEY_BYTES))
  return Buffer.concat(keys.toSorted(Buffer.compare))
}

/** RFC 6962; the keys of a snapshot are its leaves. */
export class SnapshotTree {
  readonly size: number
  readonly #keys: Buffer
  /** hashes of the complete subtrees, by level; level 0 are the leaves */
  readonly #levels: Uint8Array[][] = []

  constructor(keys: Buffer) {
    this.#keys = keys
    this.size = keys.length / KEY_BYTES
    let level: Uint8Array[] = Array.from({ length: this.size }, (_, index) => leafHash(this.#key(index)))
    for (; level.length > 0; level = pairs(level)) this.#levels.push(level)
  }

  get root(): string {
    return hexOf(rootAt(this.size, this.#read))
  }

  /** null at an edge; null for a present fingerprint. */
  absenceOf(fingerprint: string): { left: Neighbour | null; right: Neighbour | null } | null {
    const key = snapshotKey(Buffer.from(fingerprint, 'hex'))
    const at = this.#firstNotBelow(key)
    if (at < this.size && this.#key(at).equals(key)) return null
    return { left: at === 0 ? null : this.#neighbour(at - 1), right: at === this.size ? null : this.#neighbour(at) }
  }

  #firstNotBelow(key: Buffer): number {
    let [from, to] = [0, this.size]
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      if (this.#key(middle).compare(key) < 0) from = middle + 1
      else to = middle
    }
    return from
  }

  #neighbour(index: number): Neighbour {
    return { index, key: hexOf(this.#key(index)), path: proveInclusion(index, this.size, this.#read).map(hexOf) }
  }

  #key(index: number): Buffer {
    return this.#keys.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES)
  }

  readonly #read = (level: number, index: number): Uint8Array => {
    const node = this.#levels[level]?.[index]
    if (!node) throw new Error(`no complete subtree ${index} of level ${level}`)
    return node
  }
}

function pairs(level: readonly Uint8Array[]): Uint8Array[] {
  return Array.from({ length: Math.floor(level.length / 2) }, (_, index) => {
    const [left, right] = [level[2 * index], level[2 * index + 1]]
    if (!left || !right) throw new Error('the level has an odd number of nodes')
    return nodeHash(left, right)
  })
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
