import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { isRestored, restoreMarkFile } from '#shared/platform/process/restore-mark-file.ts'
import { microsOfSeconds } from '#shared/time.ts'

const mark = (id: string, seconds: number) => ({ id, at: microsOfSeconds(seconds) })
const kept = [mark('c', 120), mark('b', 90), mark('a', 60)]

test('a database that lacks more than a minute of its history is a restored copy', (t) => {
  t.false(isRestored(kept, ['a', 'b', 'c']))
  t.false(isRestored(kept, ['a', 'b']), 'a fail-over may lose the newest')
  t.false(isRestored(kept, ['a']), 'a minute is still a fail-over')
  t.true(isRestored([mark('d', 121), ...kept], ['a']))
  t.true(isRestored(kept, []), 'it knows none')
  t.false(isRestored([], []), 'nothing was kept, so nothing is known')
})

test('marks are read as they were written, and a broken file gives none', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'marks-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = restoreMarkFile(join(folder, 'not-there-yet'), 'one')
  t.deepEqual(await file.read(), [])
  await file.write(kept)
  t.deepEqual(await file.read(), kept)
  await writeFile(file.path, '{"torn')
  t.deepEqual(await file.read(), [])
})
