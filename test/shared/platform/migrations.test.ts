import test from 'ava'
import knex from 'knex'
import { migrateLatest, rollbackAll, schemaProblem } from '#shared/platform/database/migrate.ts'
import { withClient } from '../../../stack/database-admin.ts'
import { emptyDatabase } from '../../support/empty-database.ts'
import { eventually } from '../../support/eventually.ts'
import { migrationFolder } from '../../support/migration-folder.ts'

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

test('a schema of a newer release is no problem', async (t) => {
  await using database = await emptyDatabase()
  await migrateLatest(database.url)
  await withClient(database.url, (client) =>
    client.query("INSERT INTO migrations (name, batch, migration_time) VALUES ('29990101000000_later.ts', 99, now())"),
  )
  t.deepEqual(await migrateLatest(database.url), [])
  t.is(await problemOf(database.url), null)
})

async function problemOf(url: string): Promise<string | null> {
  const db = knex({ client: 'pg', connection: url })
  try {
    return await schemaProblem(db)
  } finally {
    await db.destroy()
  }
}

test('a schema is refused if a newer release has removed what this one uses', async (t) => {
  await using database = await emptyDatabase()
  await migrateLatest(database.url)
  const apply = (name: string) => migrateLatest(database.url, migrationFolder(name, 'SELECT 1'))
  await apply('20991231000000_contract_1_0_drop_old.ts')
  t.is(await problemOf(database.url), null, 'this release does not use it')
  await apply('20991231000001_contract_99_1_drop_old.ts')
  t.is(await problemOf(database.url), 'its schema needs release 99.1 or newer: start that release')
})

test('a migration that waits for a table does not stop its other users', async (t) => {
  await using database = await emptyDatabase()
  await migrateLatest(database.url)
  const name = '20991231000000_add_column.ts'
  const folder = migrationFolder(name, 'ALTER TABLE checks ADD COLUMN later text')
  await withClient(database.url, async (backup) => {
    await backup.query('BEGIN; LOCK TABLE checks IN ACCESS SHARE MODE')
    const migrating = migrateLatest(database.url, folder)
    await withClient(database.url, async (client) => {
      await eventually('the migration to wait', async () => {
        const { rows } = await client.query("SELECT FROM pg_locks WHERE relation = 'checks'::regclass AND NOT granted")
        return rows.length > 0
      })
      // Far longer than the migration may wait.
      await client.query("SET statement_timeout = '30s'")
      await t.notThrowsAsync(client.query('SELECT count(*) FROM checks'))
    })
    await backup.query('COMMIT')
    t.deepEqual(await migrating, [name])
  })
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
