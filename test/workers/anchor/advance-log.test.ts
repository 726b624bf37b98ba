import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import type { Knex } from 'knex'
import { openDatabase } from '#shared/platform/database/db.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { confirmLogSize, readLogState } from '#shared/transparency/log-keys/log-state-store.ts'
import { ensureLogSigner } from '#shared/transparency/log-keys/store.ts'
import { checkpointFile } from '#shared/transparency/providers/checkpoint-file.ts'
import { advanceLog, type LogDeps } from '../../../workers/anchor/advance-log.ts'
import { LogRefusedError } from '../../../workers/anchor/log-refused-error.ts'
import { watchOtherSequencers } from '../../../workers/anchor/other-sequencers.ts'
import { createDatabase } from '../../support/services.ts'
import { problemsOf, readLog, storeEntries } from './log-of-test.ts'

interface TestLog extends AsyncDisposable {
  deps: LogDeps
  db: Knex
  folder: string
}

async function openLog(): Promise<TestLog> {
  const database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'test', poolSize: 6, timeoutMs: 30_000 })
  const folder = await mkdtemp(join(tmpdir(), 'checkpoints-'))
  const secrets = createSecrets(randomBytes(32).toString('hex'))
  const signer = await ensureLogSigner(db, secrets, 'SANDBOX', 'https://log.example')
  const file = checkpointFile(folder, signer.key)
  return {
    deps: { db, env: 'SANDBOX', signer, file, others: { observe: () => 'absent' }, crashPoint: () => {} },
    db,
    folder,
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const tables = ['log_entries', 'log_tiles', 'log_checkpoints']

async function backUp(db: Knex): Promise<void> {
  for (const table of tables) await db.raw(`CREATE TABLE ${table}_backup AS TABLE ${table}`)
}

async function restore(db: Knex): Promise<void> {
  await db.raw('TRUNCATE log_entries, log_tiles, log_checkpoints, log_receipts')
  for (const table of tables) {
    await db.raw(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${table}_backup`)
  }
}

test('roots and proofs of checkpoints can be recomputed', async (t) => {
  await using log = await openLog()
  for (const count of [1, 1, 255, 300, 3]) {
    await storeEntries(log.db, count)
    t.is((await advanceLog(log.deps))?.added, count)
  }
  t.deepEqual(await advanceLog(log.deps), { added: 0, size: 560, isFull: false })
  const contents = await readLog(log.db)
  t.deepEqual(contents.sizes, [1, 2, 257, 557, 560])
  t.deepEqual(problemsOf(contents, log.deps.signer.key), [])
})

test('concurrent sequencers create one log', async (t) => {
  await using log = await openLog()
  for (let round = 0; round < 5; round++) {
    await storeEntries(log.db, 40)
    await Promise.all([advanceLog(log.deps), advanceLog(log.deps), advanceLog(log.deps)])
  }
  await advanceLog(log.deps)
  const contents = await readLog(log.db)
  t.is(contents.sizes.at(-1), 200)
  t.deepEqual(problemsOf(contents, log.deps.signer.key), [])
})

test('a database restored from an older backup is refused with instructions', async (t) => {
  await using log = await openLog()
  await storeEntries(log.db, 10)
  await advanceLog(log.deps)
  await backUp(log.db)
  await storeEntries(log.db, 10)
  await advanceLog(log.deps)
  await restore(log.db)
  await storeEntries(log.db, 30)
  const error = await t.throwsAsync(advanceLog(log.deps), { instanceOf: LogRefusedError })
  t.regex(error.message, /checkpoint of 20 entries was signed, but the database has only 10/)
  t.regex(error.message, /Restore the newest backup/)
  t.deepEqual((await readLog(log.db)).sizes, [10])
})

test('a restored database with other entries is refused', async (t) => {
  await using log = await openLog()
  await storeEntries(log.db, 10)
  await advanceLog(log.deps)
  await backUp(log.db)
  await storeEntries(log.db, 10)
  await advanceLog(log.deps)
  await restore(log.db)
  await storeEntries(log.db, 30)
  await log.db.raw(`UPDATE log_entries e SET seq = w.place FROM
    (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place FROM log_entries) w WHERE e.id = w.id`)
  const error = await t.throwsAsync(advanceLog(log.deps), { instanceOf: LogRefusedError })
  t.regex(error.message, /would fork the log/)
  t.deepEqual((await readLog(log.db)).sizes, [10])
})

test('a checkpoint is published only after its copy is stored', async (t) => {
  await using log = await openLog()
  await storeEntries(log.db, 5)
  const blocked = join(log.folder, 'not-a-folder')
  await writeFile(blocked, '')
  await t.throwsAsync(advanceLog({ ...log.deps, file: checkpointFile(blocked, log.deps.signer.key) }))
  t.deepEqual((await readLog(log.db)).sizes, [])
  await storeEntries(log.db, 5)
  await advanceLog(log.deps)
  await advanceLog(log.deps)
  const contents = await readLog(log.db)
  t.is(contents.sizes.at(-1), 10)
  t.deepEqual(problemsOf(contents, log.deps.signer.key), [])
})

test('without a copy of the last checkpoint nothing is signed, until the operator confirms its size', async (t) => {
  await using log = await openLog()
  const { db } = log
  await storeEntries(db, 10)
  await advanceLog(log.deps)
  await storeEntries(db, 5)
  const file = checkpointFile(join(log.folder, 'new-server'), log.deps.signer.key)
  const elsewhere = { ...log.deps, file }
  const error = await t.throwsAsync(advanceLog(elsewhere), { instanceOf: LogRefusedError })
  t.regex(error.message, /no copy of the last signed checkpoint[\s\S]* admin log confirm --env SANDBOX --size 10;/)
  t.is(await advanceLog({ ...elsewhere, others: { observe: () => 'unknown' } }), null)
  await confirmLogSize(db, 'SANDBOX', 9)
  await t.throwsAsync(advanceLog(elsewhere), { instanceOf: LogRefusedError })
  t.deepEqual((await readLog(db)).sizes, [10])

  await confirmLogSize(db, 'SANDBOX', 10)
  t.is((await advanceLog(elsewhere))?.size, 15)
  t.is((await readLogState(db, 'SANDBOX'))?.confirmedSize, null, 'a confirmation is used once')
  t.deepEqual(problemsOf(await readLog(db), log.deps.signer.key), [])
})

test('a new process adopts the published checkpoint while another one compares the log', async (t) => {
  await using log = await openLog()
  const { db } = log
  await storeEntries(db, 10)
  await advanceLog(log.deps)
  let now = 0
  const others = watchOtherSequencers(() => now)
  const second = { ...log.deps, others, file: checkpointFile(join(log.folder, 'second'), log.deps.signer.key) }
  t.is(await advanceLog(second), null)
  await db('log_keys').update({ stepped_at: new Date(Date.now() - 60_000) })
  await advanceLog(log.deps)
  t.is((await advanceLog(second))?.size, 10)
  t.is(await second.file.read(), await log.deps.file.read())

  const alone = watchOtherSequencers(() => now)
  t.is(alone.observe(1), 'unknown')
  now += 30_000
  t.is(alone.observe(1), 'absent')
  t.is(alone.observe(2), 'present')
})

test('a changed copy of a checkpoint is refused', async (t) => {
  await using log = await openLog()
  await storeEntries(log.db, 3)
  await advanceLog(log.deps)
  const note = (await log.deps.file.read()) ?? ''
  await writeFile(log.deps.file.path, note.replace('\n3\n', '\n2\n'))
  await storeEntries(log.db, 1)
  await t.throwsAsync(advanceLog(log.deps), { instanceOf: LogRefusedError })
})
