import { readFileSync } from 'node:fs'
import test from 'ava'
import {
  appendToRange,
  compactRoot,
  EMPTY_ROOT,
  leafHash,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from '#shared/transparency/anchoring/merkle.ts'
import { proveConsistency, proveInclusion, rootAt } from '#shared/transparency/anchoring/merkle-proof.ts'

interface Probe {
  id: string
  wantErr: boolean
  proof: string[] | null
}
interface Vectors {
  hashing: { emptyRoot: string }
  eightLeafTree: {
    leavesHex: string[]
    leafHashes: string[]
    rootsBySize: Record<string, { hex: string }>
    inclusion: { leafIndex: number; treeSize: number; leafHash: string; root: string; proof: string[] }[]
    consistency: { size1: number; size2: number; root1: string; root2: string; proof: string[] }[]
  }
  probes: {
    inclusion: (Probe & { leafIdx: number; treeSize: number; root: string; leafHash: string })[]
    consistency: (Probe & { size1: number; size2: number; root1: string; root2: string })[]
  }
}
const vectors: Vectors = JSON.parse(readFileSync(new URL('../../../vectors/merkle.json', import.meta.url), 'utf8'))
const hex = (text: string): Uint8Array => Buffer.from(text, 'hex')
const base64 = (text: string): Uint8Array => Buffer.from(text ?? '', 'base64')
const tree = vectors.eightLeafTree
const leaves = tree.leavesHex.map((leaf) => leafHash(hex(leaf)))

/** Computes any node of a small tree directly from its leaves. */
const reader =
  (hashes: readonly Uint8Array[]) =>
  (level: number, index: number): Uint8Array =>
    rootOf(hashes.slice(index * 2 ** level, (index + 1) * 2 ** level))

test('the eight published leaves have the published hashes and roots', (t) => {
  t.deepEqual(
    leaves.map((leaf) => Buffer.from(leaf).toString('hex')),
    tree.leafHashes,
  )
  t.is(Buffer.from(EMPTY_ROOT).toString('hex'), vectors.hashing.emptyRoot)
  for (const [size, { hex: root }] of Object.entries(tree.rootsBySize)) {
    t.is(Buffer.from(rootOf(leaves.slice(0, Number(size)))).toString('hex'), root)
    t.is(Buffer.from(rootAt(Number(size), reader(leaves))).toString('hex'), root)
  }
})

test('appending leaves one by one or together gives the same range', (t) => {
  let range = appendToRange({ size: 0, nodes: [] }, [])
  for (const [index, leaf] of leaves.entries()) {
    const before = compactRoot(range)
    const grown = appendToRange(range, [leaf])
    t.deepEqual(compactRoot(range), before)
    t.deepEqual(grown, appendToRange({ size: 0, nodes: [] }, leaves.slice(0, index + 1)))
    range = grown
  }
})

test('all published inclusion proofs are computed and verified', (t) => {
  t.is(tree.inclusion.length, 36)
  for (const { leafIndex, treeSize, root, proof } of tree.inclusion) {
    const made = proveInclusion(leafIndex, treeSize, reader(leaves.slice(0, treeSize)))
    t.deepEqual(
      made.map((node) => Buffer.from(node).toString('hex')),
      proof,
    )
    t.true(verifyInclusion(leaves[leafIndex] ?? EMPTY_ROOT, leafIndex, treeSize, made, hex(root)))
  }
})

test('all published consistency proofs are computed and verified', (t) => {
  t.is(tree.consistency.length, 36)
  for (const { size1, size2, root1, root2, proof } of tree.consistency) {
    const made = proveConsistency(size1, size2, reader(leaves.slice(0, size2)))
    t.deepEqual(
      made.map((node) => Buffer.from(node).toString('hex')),
      proof,
    )
    t.true(verifyConsistency(size1, size2, hex(root1), hex(root2), made))
  }
})

for (const probe of vectors.probes.inclusion)
  test(`inclusion probe ${probe.id} is ${probe.wantErr ? 'refused' : 'accepted'}`, (t) => {
    const proof = (probe.proof ?? []).map(base64)
    t.is(
      verifyInclusion(base64(probe.leafHash), probe.leafIdx, probe.treeSize, proof, base64(probe.root)),
      !probe.wantErr,
    )
  })

for (const probe of vectors.probes.consistency)
  test(`consistency probe ${probe.id} is ${probe.wantErr ? 'refused' : 'accepted'}`, (t) => {
    const proof = (probe.proof ?? []).map(base64)
    const { size1, size2, root1, root2 } = probe
    t.is(verifyConsistency(size1, size2, base64(root1), base64(root2), proof), !probe.wantErr)
  })

test('proofs of trees up to seventy leaves verify only unchanged', (t) => {
  const hashes = Array.from({ length: 70 }, (_, at) => leafHash(Buffer.from(`leaf-${at}`)))
  for (let size = 1; size <= 70; size++) {
    const read = reader(hashes.slice(0, size))
    const root = rootOf(hashes.slice(0, size))
    for (let index = 0; index < size; index += 3) {
      const proof = proveInclusion(index, size, read)
      const leaf = hashes[index] ?? EMPTY_ROOT
      t.true(verifyInclusion(leaf, index, size, proof, root))
      t.false(verifyInclusion(leaf, index, size, [...proof, EMPTY_ROOT], root))
      if (proof.length > 0) {
        t.false(verifyInclusion(leaf, index, size, proof.slice(1), root))
        const [first = EMPTY_ROOT, ...rest] = proof
        t.false(verifyInclusion(leaf, index, size, [flip(first), ...rest], root))
      }
    }
    for (let from = 1; from < size; from += 5) {
      const proof = proveConsistency(from, size, read)
      const old = rootOf(hashes.slice(0, from))
      t.true(verifyConsistency(from, size, old, root, proof))
      t.false(verifyConsistency(from, size, flip(old), root, proof))
      t.false(verifyConsistency(from, size, old, flip(root), proof))
      t.false(verifyConsistency(from, size, old, root, proof.slice(1)))
      t.false(verifyConsistency(from, size, old, root, [...proof, EMPTY_ROOT]))
    }
  }
})

test('proofs with invalid sizes or indexes are refused', (t) => {
  const many = Array.from({ length: 10_000 }, () => EMPTY_ROOT)
  t.false(verifyInclusion(EMPTY_ROOT, 0, 2 ** 52, many, EMPTY_ROOT))
  for (const index of [-1, 0.5, Number.NaN, 2 ** 53, 5]) t.false(verifyInclusion(EMPTY_ROOT, index, 5, [], EMPTY_ROOT))
  t.false(verifyConsistency(2, 1, EMPTY_ROOT, EMPTY_ROOT, []))
  t.false(verifyConsistency(1, Number.MAX_SAFE_INTEGER + 1, EMPTY_ROOT, EMPTY_ROOT, []))
  t.false(verifyInclusion(new Uint8Array(31), 0, 1, [], new Uint8Array(31)))
  for (const [index, size] of [
    [5, 5],
    [-1, 5],
    [0.5, 5],
    [0, 0],
  ] as const)
    t.throws(() => proveInclusion(index, size, () => EMPTY_ROOT), { code: 'PROOF_RANGE' })
  t.throws(() => proveConsistency(6, 5, () => EMPTY_ROOT), { code: 'PROOF_RANGE' })
})

test('proofs of large trees stay exact beyond 32 bits', (t) => {
  const size = 2 ** 40 + 1
  const last = leafHash(Buffer.from('last'))
  const full = leafHash(Buffer.from('hash of the complete left subtree'))
  const proof = proveInclusion(2 ** 40, size, (level, index) => (level === 40 && index === 0 ? full : last))
  t.deepEqual(proof, [full])
  t.true(verifyInclusion(last, 2 ** 40, size, proof, nodeHash(full, last)))
})

function flip(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[7] = (copy[7] ?? 0) ^ 1
  return copy
}
