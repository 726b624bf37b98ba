import test from 'ava'
import type { Knex } from 'knex'
import { openDatabase, transaction } from '#shared/platform/database/db.ts'
import { migrateAndSecure } from '#shared/platform/database/migrate.ts'
import { type Prepared, preparedTransaction } from '#shared/platform/database/prepared.ts'
import type { Pooler } from '#shared/platform/database/server.ts'
import { query } from '#shared/platform/database/sql.ts'
import { asTenant } from '#shared/platform/database/tenant.ts'
import { createLog } from '#shared/platform/process/log.ts'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { openProduct } from '../../support/product.ts'
import { createDatabase, type TestDatabase } from '../../support/services.ts'

const TIMEOUT_MS = 10_000
const COUNT: Prepared = { name: 'test-count', text: 'SELECT $1::int + count(*)::int AS n FROM organisations' }

/** The database as migrations leave it for this pooler. */
async function prepared(t: { teardown(end: () => Promise<void>): void }, databasePooler: Pooler) {
  const database = await createDatabase()
  t.teardown(() => database.drop())
  await secure(database, databasePooler)
  return database
}

const secure = (database: TestDatabase, databasePooler: Pooler) =>
  migrateAndSecure({
    databaseUrl: database.loginUrl,
    databaseOwnerUrl: database.url,
    databasePooler,
    databaseTimeoutMs: TIMEOUT_MS,
  })

function open(t: { teardown(end: () => Promise<void>): void }, url: string, pooler: Pooler): Knex {
  const db = openDatabase({ url, name: 'shared', poolSize: 1, timeoutMs: TIMEOUT_MS, pooler })
  t.teardown(() => db.destroy())
  return db
}

const sessionOf = async (db: Knex) =>
  await query(
    db,
    `SELECT current_user AS role, current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
            current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('jit') AS jit`,
  )

test('behind a pooler of transactions every session has deadlines and role, regardless of its earlier state', async (t) => {
  const database = await prepared(t, 'transaction')
  const db = open(t, database.loginUrl, 'transaction')
  const [{ id } = { id: 0 }] = await query<{ id: number }>(
    db,
    "INSERT INTO organisations (name) VALUES ('one'), ('other') RETURNING id",
  )
  for (let round = 0; round < 2; round++) {
    t.deepEqual(await sessionOf(db), [
      { role: 'signalbox_pipeline', statement: '10s', lock: '8s', idle: '30s', jit: 'off' },
    ])
    const counted = await preparedTransaction(db, async (run) => await Promise.all([run(COUNT, [0]), run(COUNT, [5])]))
    t.deepEqual(counted, [[{ n: 2 }], [{ n: 7 }]])
    const seen = await asTenant({ organisationId: id }, () =>
      transaction(db, (tx) => query(tx, 'SELECT name FROM organisations')),
    )
    t.deepEqual(seen, [{ name: 'one' }])
    // The settings of a new session, as the next transaction finds it behind a pooler.
    await query(db, 'DISCARD ALL')
  }
})

test('a session that lacks what migrations give it is refused with the command to run', async (t) => {
  const database = await prepared(t, 'none')
  await t.throwsAsync(query(open(t, database.loginUrl, 'transaction'), 'SELECT 1'), {
    name: 'PoolerError',
    message: /npm run -s migrate with DATABASE_POOLER=transaction/,
  })
  await secure(database, 'transaction')
  t.deepEqual(await query(open(t, database.loginUrl, 'transaction'), 'SELECT 1 AS one'), [{ one: 1 }])

  await secure(database, 'none')
  const direct = open(t, database.loginUrl, 'none')
  await query(direct, 'RESET ROLE')
  const [{ role } = {}] = await query<{ role?: string }>(direct, 'SELECT current_user AS role')
  t.is(role, 'signalbox_test_login', 'without a pooler the login again sees no row without a role')
})

test('a backup is not written through a pooler of transactions', async (t) => {
  await using product = await openProduct({ env: { DATABASE_POOLER: 'transaction' } })
  const { status, stderr } = await runAdmin(['backup', 'write', '--to', '/nowhere'], commands, async () => ({
    config: product.config,
    db: product.db,
    secrets: createSecrets(product.config.secretKey),
    log: createLog('silent', 'test'),
    actor: 'tester',
    async [Symbol.asyncDispose]() {},
  }))
  t.is(status, 1)
  t.regex(stderr, /set DATABASE_OWNER_URL to the address of the server itself/)
})

test('deadlines that would be those of migrations too are refused', async (t) => {
  const database = await createDatabase()
  t.teardown(() => database.drop())
  await t.throwsAsync(migrateAndSecure({ databaseUrl: database.url, databasePooler: 'transaction' }), {
    message: /needs DATABASE_OWNER_URL/,
  })
})
