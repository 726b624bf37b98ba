import { leafHash, rootOf } from '../../transparency/anchoring/merkle.ts'
import { proveInclusion } from '../../transparency/anchoring/merkle-proof.ts'

/** Leaves of a subtree whose root is stored with a cut, so that a proof reads few of 50,000 leaves. */
const CHUNK = 256
const CHUNK_LEVEL = 8

/** RFC 6962, payload hashes in pool order. */
export function cutTree(payloadHashes: readonly Uint8Array[]): { root: Uint8Array; chunks: Uint8Array[] } {
  const leaves = payloadHashes.map(leafHash)
  const chunks: Uint8Array[] = []
  for (let from = 0; from + CHUNK <= leaves.length; from += CHUNK) chunks.push(rootOf(leaves.slice(from, from + CHUNK)))
  return { root: rootOf(leaves), chunks }
}

/** `read` excludes `to`. */
export async function memberPath(
  index: number,
  size: number,
  chunks: readonly Uint8Array[],
  read: (from: number, to: number) => Promise<readonly Uint8Array[]>,
): Promise<Uint8Array[]> {
  const known = new Map<number, Uint8Array[]>()
  for (const chunk of new Set([Math.floor(index / CHUNK), Math.floor((size - 1) / CHUNK)])) {
    const hashes = await read(chunk * CHUNK, Math.min((chunk + 1) * CHUNK, size))
    known.set(chunk, hashes.map(leafHash))
  }
  return proveInclusion(index, size, (level, at) => {
    if (level >= CHUNK_LEVEL) {
      const width = 2 ** (level - CHUNK_LEVEL)
      return rootOf(chunks.slice(at * width, (at + 1) * width))
    }
    const from = at * 2 ** level
    const leaves = known.get(Math.floor(from / CHUNK)) ?? []
    return rootOf(leaves.slice(from % CHUNK, (from % CHUNK) + 2 ** level))
  })
}
