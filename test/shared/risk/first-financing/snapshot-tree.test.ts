import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { SnapshotTree, snapshotKeys } from '#shared/risk/first-financing/snapshot-tree.ts'
import { leafHash, verifyInclusion } from '#shared/transparency/anchoring/merkle.ts'

const { set, set2 } = JSON.parse(readFileSync(new URL('../../../vectors/families.json', import.meta.url), 'utf8'))
const published = Buffer.concat(set.keys.map((key: string) => Buffer.from(key, 'hex')))

test('keys, root and neighbours equal those of the vector', (t) => {
  const tree = new SnapshotTree(published)
  t.is(tree.root, set.root)
  t.deepEqual(tree.absenceOf(set2.query), { left: set2.left, right: set2.right })
  t.deepEqual(tree.absenceOf(set.query), { left: set.left, right: set.right }, 'before the first')
  const padded = snapshotKeys(set.fingerprints, randomBytes)
  t.is(padded.length, 256 * 32)
  for (const key of set.keys) t.true(padded.includes(Buffer.from(key, 'hex')))
})

test('a key in the snapshot has no proof of absence', (t) => {
  const tree = new SnapshotTree(published)
  for (const fingerprint of set.fingerprints) t.is(tree.absenceOf(fingerprint), null)
})

test('snapshot keys are sorted and padded to a multiple of 256', (t) => {
  for (const [count, size] of [
    [0, 256],
    [1, 256],
    [256, 256],
    [257, 512],
  ] as const) {
    const fingerprints = Array.from({ length: count }, () => randomBytes(32).toString('hex'))
    const keys = snapshotKeys(fingerprints, randomBytes)
    const tree = new SnapshotTree(keys)
    t.is(tree.size, size)
    const list = Array.from({ length: size }, (_, index) => keys.subarray(index * 32, index * 32 + 32))
    t.deepEqual(list, list.toSorted(Buffer.compare))
    for (const fingerprint of fingerprints) t.is(tree.absenceOf(fingerprint), null)
  }
})

test('the paths of both neighbours give the root', (t) => {
  const keys = Array.from({ length: 300 }, () => randomBytes(32)).toSorted(Buffer.compare)
  const tree = new SnapshotTree(Buffer.concat(keys))
  const root = Buffer.from(tree.root, 'hex')
  for (let round = 0; round < 50; round++) {
    const found = tree.absenceOf(randomBytes(32).toString('hex'))
    const sides = [found?.left, found?.right].filter((side) => side !== null && side !== undefined)
    t.true(sides.length > 0)
    for (const { index, key, path } of sides)
      t.true(
        verifyInclusion(
          leafHash(Buffer.from(key, 'hex')),
          index,
          tree.size,
          path.map((node) => Buffer.from(node, 'hex')),
          root,
        ),
      )
  }
})
