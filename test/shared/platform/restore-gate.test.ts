import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { pino } from 'pino'
import { openDatabase } from '#shared/platform/database/db.ts'
import { openRestoreGate } from '#shared/platform/process/restore-gate.ts'
import { createDatabase } from '../../support/services.ts'

test('a process whose folder lacks a mark of a used database reports it once', async (t) => {
  await using database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'gate', poolSize: 2, timeoutMs: 10_000 })
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-marks-'))
  t.teardown(async () => {
    await db.destroy()
    await rm(directory, { recursive: true })
  })
  const written: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void written.push(line) })
  const open = async () => {
    written.length = 0
    await using gate = openRestoreGate({ db, log, directory })
    await gate.firstCheck()
    t.deepEqual(gate.problems(), [])
    return written.filter((line) => line.includes('restore.unguarded')).length
  }
  t.is(await open(), 0, 'a database that begins has nothing to lose')
  await db.raw("INSERT INTO restore_marks (made_at) VALUES (now() - interval '2 minutes')")
  t.is(await open(), 0, 'the folder has its mark')
  await rm(directory, { recursive: true })
  t.is(await open(), 1)
  t.is(await open(), 0, 'from then on it is guarded')
})
