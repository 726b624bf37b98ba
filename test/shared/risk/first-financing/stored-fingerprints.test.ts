import { hash, randomUUID } from 'node:crypto'
import test from 'ava'
import { openDatabase } from '#shared/platform/database/db.ts'
import { preparedTransaction } from '#shared/platform/database/prepared.ts'
import { query } from '#shared/platform/database/sql.ts'
import { findHolder, findLapsed, findMatches } from '#shared/risk/first-financing/store.ts'
import { createDatabase } from '../../../support/services.ts'

const STORED = 3_000
const named = (text: string) => ({ epoch: 2, kind: 'RF1' as const, value: hash('sha256', text, 'hex') })

test('a search reads only matching rows, also with early query plans', async (t) => {
  const database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'test', poolSize: 1, timeoutMs: 10_000 })
  t.teardown(async () => {
    await db.destroy()
    await database.drop()
  })
  const [organisation] = await query<{ id: number }>(db, "INSERT INTO organisations (name) VALUES ('o') RETURNING id")
  const organisationId = organisation?.id ?? 0
  const store = (from: number, to: number) =>
    query(
      db,
      `INSERT INTO financing_fingerprints (env, epoch, kind, fingerprint, organisation_id, state, record_id)
       SELECT 'SANDBOX', 2, 'RF1', sha256(n::text::bytea), ?, 'REGISTERED', gen_random_uuid()
       FROM generate_series(?::int, ?::int) n`,
      [organisationId, from, to],
    )
  const look = (text: string) =>
    preparedTransaction(db, async ({ tx }) => {
      const fingerprints = [named(text), named('held by no record')]
      const record = { env: 'SANDBOX' as const, organisationId, recordId: randomUUID(), fingerprints }
      const found = [
        (await findHolder(tx, 'SANDBOX', fingerprints)) !== undefined,
        (await findLapsed(tx, 'SANDBOX', fingerprints)).length,
        (await findMatches(tx, [record])).length,
      ]
      const [read] = await query<{ rows: number }>(
        tx,
        `SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables
         WHERE relname = 'financing_fingerprints'`,
      )
      return { found, read: read?.rows ?? 0 }
    })
  await store(1, 2)
  // A connection keeps a plan after fewer executions than this.
  for (let n = 0; n < 10; n++) t.deepEqual((await look('1')).found, [true, 0, 1])
  await store(3, STORED)
  const { found, read } = await look(String(STORED))
  t.deepEqual(found, [true, 0, 1])
  // Counts all searches together, because the server counts by session.
  t.true(read < STORED / 10, `${read} rows were read`)
})
