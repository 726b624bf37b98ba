import { fileURLToPath, pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
import { withLocalEnv } from '../stack/local-env.ts'
import { loadConfig } from './config.ts'

const directory = fileURLToPath(new URL('../../migrations', import.meta.url))

/** Any constant: everyone who migrates this product takes the same advisory lock. */
const MIGRATION_LOCK = 7_419_201

const settings: Knex.MigratorConfig = { directory, loadExtensions: ['.ts'], tableName: 'migrations' }

/**
 * Brings the schema up to date. Any number of processes may call this at once: an advisory lock lets one work while
 * the others wait and then find nothing to do.
 * @throws the driver's error when the database cannot be reached or a migration fails; nothing is half applied
 */
export async function migrateLatest(databaseUrl: string): Promise<string[]> {
  return await withMigrationLock(databaseUrl, async (db) => {
    const [, applied] = await db.migrate.latest(settings)
    return applied
  })
}

/** Takes every migration back, newest first: for the test that proves each can be. */
export async function rollbackAll(databaseUrl: string): Promise<void> {
  await withMigrationLock(databaseUrl, async (db) => await db.migrate.rollback(settings, true))
}

/** Names of migrations that the code has and the database does not. */
export async function pendingMigrations(db: Knex): Promise<string[]> {
  const [, pending] = await db.migrate.list(settings)
  return pending.map((migration: { file: string }) => migration.file)
}

async function withMigrationLock<T>(databaseUrl: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const lock = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 1 } })
  const db = knex({ client: 'pg', connection: databaseUrl, pool: { min: 0, max: 2 } })
  try {
    await lock.raw('SELECT pg_advisory_lock(?)', [MIGRATION_LOCK])
    // knex's own lock row survives a killed process; ours cannot, and we hold it now.
    await db.migrate.forceFreeMigrationsLock(settings)
    return await work(db)
  } finally {
    await db.destroy()
    await lock.destroy()
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { databaseUrl } = loadConfig(withLocalEnv(process.env))
  const applied = await migrateLatest(databaseUrl)
  const report = applied.length > 0 ? `applied ${applied.length} migrations` : 'the schema is up to date'
  process.stdout.write(`${report}\n`)
}
