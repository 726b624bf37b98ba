import { randomBytes } from 'node:crypto'
import test from 'ava'
import knex from 'knex'
import pg from 'pg'
import { migrateLatest, pendingMigrations, rollbackAll } from '#shared/platform/database/migrate.ts'
import { databaseUrl, withClient } from '../../../stack/database-admin.ts'
import { eventually } from '../../support/eventually.ts'
import { postgresServer } from '../../support/services.ts'

async function emptyDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const server = await postgresServer()
  const name = `signalbox_test_${randomBytes(6).toString('hex')}`
  await withClient(server, (client) => client.query(`create database ${pg.escapeIdentifier(name)}`))
  return {
    url: databaseUrl(server, name),
    async [Symbol.asyncDispose]() {
      await withClient(server, (client) => client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`))
    },
  }
}

/** Everything of ours that the schema holds, one line each. */
async function schemaOf(url: string): Promise<string[]> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ line: string }>(`
      SELECT format('column %s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS line
      FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'migrations%'
      UNION ALL SELECT 'index ' || indexdef FROM pg_indexes
      WHERE schemaname = 'public' AND tablename NOT LIKE 'migrations%'
      UNION ALL SELECT format('constraint %s %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT LIKE 'migrations%'
      UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
      ORDER BY line`)
    return rows.map(({ line }) => line)
  })
}

test('migrations go up, all the way down, and up to the same schema', async (t) => {
  await using database = await emptyDatabase()
  t.true((await migrateLatest(database.url)).length > 0)
  const first = await schemaOf(database.url)
  t.true(first.length > 0)
  await rollbackAll(database.url)
  t.deepEqual(await schemaOf(database.url), [])
  await migrateLatest(database.url)
  t.deepEqual(await schemaOf(database.url), first)
})

test('several processes that migrate at once apply each migration once', async (t) => {
  await using database = await emptyDatabase()
  const applied = await Promise.all([1, 2, 3].map(() => migrateLatest(database.url)))
  t.is(applied.filter((names) => names.length > 0).length, 1)
})

test('a database of a build before the first release is refused with the way to start over', async (t) => {
  await using database = await emptyDatabase()
  await migrateLatest(database.url)
  await withClient(database.url, (client) =>
    client.query(
      "INSERT INTO migrations (name, batch, migration_time) VALUES ('20261121100000_create_tenancy.ts', 1, now())",
    ),
  )
  await t.throwsAsync(migrateLatest(database.url), { message: /start over: make down, drop the database/ })
})

test('a schema of a newer release is nothing to complain of', async (t) => {
  await using database = await emptyDatabase()
  await migrateLatest(database.url)
  await withClient(database.url, (client) =>
    client.query("INSERT INTO migrations (name, batch, migration_time) VALUES ('29990101000000_later.ts', 99, now())"),
  )
  t.deepEqual(await migrateLatest(database.url), [])
  const db = knex({ client: 'pg', connection: database.url })
  t.deepEqual(await pendingMigrations(db), [])
  await db.destroy()
})

test('migrating leaves no lock behind in a session that a pooler keeps', async (t) => {
  await using database = await emptyDatabase()
  await withClient(database.url, async (client) => {
    const migrating = migrateLatest(database.url)
    const held = await eventually('the lock to be held', async () => {
      const { rows } = await client.query(
        `SELECT a.xact_start FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()`,
      )
      return rows[0]
    })
    t.not(held.xact_start, null, 'it is held by a transaction, and ends with it')
    await migrating
  })
})
