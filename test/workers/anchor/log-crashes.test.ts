import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { findLogKey } from '#shared/transparency/log-keys/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { problemsOf, readLog, storeEntries } from './log-of-test.ts'

// F24: the process is killed between each pair of steps, and again while it repairs the first crash.
for (const point of ['log-sequenced', 'log-tiled', 'log-signed', 'log-published']) {
  test.serial(`a sequencer killed at ${point} leaves a log that continues with the same bytes`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'checkpoints-'))
    await using product = await openProduct({ env: { CHECKPOINT_DIR: folder } })
    const { db } = product
    await storeEntries(db, 300)
    const killed = product.spawn('workers', ['anchor'], { CRASH_AT: point })
    t.is(await killed.exited, null)
    const afterFirst = await readLog(db)
    const signed = await keptNote(folder)
    await storeEntries(db, 7)
    const again = product.spawn('workers', ['anchor'], { CRASH_AT: point })
    t.is(await again.exited, null)
    await storeEntries(db, 5)
    await product.workers(['anchor'])
    const log = await eventually('all entries to be published', async () => {
      const now = await readLog(db)
      return now.sizes.at(-1) === 312 ? now : undefined
    })
    const key = await findLogKey(db, 'SANDBOX')
    if (!key) throw new Error('the log has no key')
    t.deepEqual(problemsOf(log, key), [])
    t.deepEqual(log.leaves.slice(0, afterFirst.leaves.length), afterFirst.leaves)
    // A checkpoint signed before the crash was copied to the folder, and is published in the end.
    if (signed !== undefined) t.true(log.notes.includes(signed))
    t.is(await keptNote(folder), log.notes.at(-1))
  })
}

test.serial('a log gets its key, with the name of PUBLIC_URL, from its first entry', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'checkpoints-'))
  await using product = await openProduct({ env: { CHECKPOINT_DIR: folder } })
  const { metrics } = await product.workers(['anchor'])
  const stepped = /signalbox_log_step_timestamp_seconds\{env="SANDBOX"\} \d/
  await eventually('a step of the empty log', async () => stepped.test(await metrics.registry.metrics()))
  t.is(await findLogKey(product.db, 'SANDBOX'), undefined)
  await storeEntries(product.db, 1)
  await eventually('the first checkpoint', async () => (await readLog(product.db)).sizes.length === 1)
  t.is(await findLogKey(product.db, 'PRODUCTION'), undefined)
})

async function keptNote(folder: string): Promise<string | undefined> {
  const [file] = (await readdir(folder)).filter((name) => name.endsWith('.checkpoint'))
  return file === undefined ? undefined : await readFile(join(folder, file), 'utf8')
}
