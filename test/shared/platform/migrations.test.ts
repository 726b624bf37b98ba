import { randomBytes } from 'node:crypto'
import test from 'ava'
import pg from 'pg'
import { migrateLatest, rollbackAll } from '#shared/platform/migrate.ts'
import { databaseUrl, withClient } from '#shared/stack/database-admin.ts'
import { postgresServer } from '../support/services.ts'

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
