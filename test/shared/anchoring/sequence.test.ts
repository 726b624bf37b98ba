import test from 'ava'
import { type Checkpoint, openCheckpoint } from '#shared/anchoring/checkpoint.ts'
import { decodeEntryBundle } from '#shared/anchoring/entry-bundle.ts'
import { sequenceBatch } from '#shared/anchoring/sequence.ts'
import { tilePath } from '#shared/anchoring/tile-path.ts'
import { EMPTY_FRONTIER } from '#shared/anchoring/tiles.ts'
import { SmallLog } from './small-log.ts'
import { vectorLog } from './vectors.ts'

const reference = new SmallLog(vectorLog)
reference.fill(600)
const entries = reference.entries

test('batches of any size give the tiles and bundles of the whole, and a checkpoint that opens', (t) => {
  const files = new Map<string, Uint8Array>()
  let frontier = EMPTY_FRONTIER
  let last: Checkpoint | undefined
  for (const size of [1, 200, 256, 257, 511, 600]) {
    const unfinished = entries.slice(frontier.size - (frontier.size % 256), frontier.size)
    const batch = entries.slice(frontier.size, size)
    const sequenced = sequenceBatch(frontier, unfinished, batch, last, vectorLog)
    t.deepEqual(sequenceBatch(frontier, unfinished, batch, last, vectorLog), sequenced)
    for (const { data, ...id } of [...sequenced.tiles, ...sequenced.bundles]) files.set(tilePath(id), data)
    t.is(openCheckpoint(sequenced.note, [vectorLog.key]).checkpoint.size, size)
    frontier = sequenced.frontier
    last = sequenced.checkpoint
  }
  t.deepEqual(last?.root, reference.root)
  for (const path of ['tile/0/000', 'tile/0/001', 'tile/0/002.p/88', 'tile/1/000.p/2'])
    t.deepEqual(files.get(path), reference.files.get(path))
  t.deepEqual(decodeEntryBundle(files.get('tile/entries/001') ?? new Uint8Array(), 256), entries.slice(256, 512))
  t.is(decodeEntryBundle(files.get('tile/entries/002.p/88') ?? new Uint8Array(), 88).length, 88)
  t.true([...files.keys()].every((path) => !path.endsWith('.p/0')))
})

test('a stored tree that is not the one signed last is refused, with what to do', (t) => {
  const first = sequenceBatch(EMPTY_FRONTIER, [], entries.slice(0, 256), undefined, vectorLog)
  const fork = sequenceBatch(EMPTY_FRONTIER, [], entries.slice(1, 257), undefined, vectorLog)
  const next = entries.slice(256, 300)
  for (const [stored, last] of [
    [EMPTY_FRONTIER, first.checkpoint],
    [first.frontier, fork.checkpoint],
    [first.frontier, undefined],
    [first.frontier, { ...first.checkpoint, size: 257 }],
  ] as const)
    t.throws(() => sequenceBatch(stored, [], next, last, vectorLog), { code: 'LOG_ROLLED_BACK', message: /back-up/ })
  t.notThrows(() => sequenceBatch(first.frontier, [], next, first.checkpoint, vectorLog))
  t.throws(() => sequenceBatch(first.frontier, next, next, first.checkpoint, vectorLog), { code: 'TILE_MISSING' })
})

test('the cost of sequencing is reported', (t) => {
  let frontier = EMPTY_FRONTIER
  let last: Checkpoint | undefined
  let unfinished: Uint8Array[] = []
  const started = performance.now()
  for (let round = 0; round < 4; round++) {
    const batch = Array.from({ length: 20_000 }, (_, at) => entries[at % 600] ?? new Uint8Array())
    const sequenced = sequenceBatch(frontier, unfinished, batch, last, vectorLog)
    unfinished = [...unfinished, ...batch].slice(-(sequenced.frontier.size % 256) || Number.POSITIVE_INFINITY)
    frontier = sequenced.frontier
    last = sequenced.checkpoint
  }
  const seconds = (performance.now() - started) / 1000
  t.log(`${Math.round(frontier.size / seconds)} entries sequenced, tiled, bundled and signed a second, 20000 a batch`)
  t.is(frontier.size, 80_000)
})
