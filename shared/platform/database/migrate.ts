import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import { ValidationError } from '../../errors.ts'
import { loadConfig } from '../process/config.ts'
import { withLocalEnv } from '../process/local-env.ts'
import { primaryAddress, splitHosts } from './hosts.ts'
import { poolerDefaults, secureRows } from './row-security.ts'
import type { Pooler } from './server.ts'
import { query } from './sql.ts'

const directory = fileURLToPath(new URL('../../../migrations', import.meta.url))

/** Any constant: everyone who migrates this product takes the same advisory lock. */
const MIGRATION_LOCK = 7_419_201
const LOCK_AGAIN_MS = 100

/** Migrations with an earlier name belong to builds before the first release. */
const FIRST_MIGRATION = '20261127100001'

const settings: Knex.MigratorConfig = {
  directory,
  loadExtensions: ['.ts'],
  tableName: 'migrations',
  // During an upgrade the schema has migrations that the older processes do not know; they only expand it.
  disableMigrationsListValidation: true,
}

/**
 * Brings the schema up to date. Any number of processes may call this at once: an advisory lock lets one work while
 * the others wait and then find nothing to do.
 * @throws the driver's error when the database cannot be reached or a migration fails; nothing is half applied
 */
export async function migrateLatest(databaseUrl: string): Promise<string[]> {
  return await withMigrationLock(databaseUrl, async (db) => {
    await requireReleasedSchema(db)
    const [, applied] = await db.migrate.latest(settings)
    return applied
  })
}

/**
 * Brings the schema up to date as its owner and, where another login is to work with it, binds that one by row security.
 * @returns the migrations applied, and a warning in words where row security cannot be had
 * @throws ValidationError for a pooler that shares sessions without a login whose own they could be
 */
export async function migrateAndSecure(addresses: {
  databaseUrl: string
  databaseOwnerUrl?: string | undefined
  databasePooler?: Pooler
  databaseTimeoutMs?: number
}): Promise<{ applied: string[]; warning?: string }> {
  const { databaseUrl, databaseOwnerUrl = databaseUrl, databasePooler = 'none', databaseTimeoutMs = 0 } = addresses
  const login = loginOf(databaseUrl)
  const isOwner = login.role === loginOf(databaseOwnerUrl).role
  if (isOwner && databasePooler === 'transaction') {
    throw new ValidationError(
      'DATABASE_POOLER=transaction needs DATABASE_OWNER_URL: deadlines become those of the login, and migrations have none',
    )
  }
  return await withMigrationLock(databaseOwnerUrl, async (db) => {
    await requireReleasedSchema(db)
    const [, applied] = await db.migrate.latest(settings)
    if (isOwner) return { applied, warning: 'row security is off: DATABASE_URL is the login that owns the tables' }
    const owner = new pg.Client({ connectionString: await primaryAddress(databaseOwnerUrl) })
    await owner.connect()
    try {
      await secureRows(owner, login)
      await poolerDefaults(owner, login.role, databasePooler === 'transaction' ? databaseTimeoutMs : null)
      return { applied }
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error
      return { applied, warning: `row security is off: the owner may not make it so (${error.message})` }
    } finally {
      await owner.end()
    }
  })
}

function loginOf(url: string): { role: string; password: string } {
  const [address = url] = splitHosts(url)
  const { username, password } = new URL(address)
  return { role: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/**
 * Refuses a database that a development build created: its tables have other names, and no migration leads from them.
 * @throws ValidationError that says how to start over
 */
async function requireReleasedSchema(db: Knex): Promise<void> {
  const [table] = await query<{ exists: boolean }>(db, `SELECT to_regclass('public.migrations') IS NOT NULL AS exists`)
  if (!table?.exists) return
  const [old] = await query(db, 'SELECT 1 FROM migrations WHERE name < ? LIMIT 1', [FIRST_MIGRATION])
  if (!old) return
  throw new ValidationError(
    'the database was created by a build before the first release; start over: make down, drop the database, delete .local, make up',
  )
}

/** Takes every migration back, newest first: for the test that proves each can be. */
export async function rollbackAll(databaseUrl: string): Promise<void> {
  await withMigrationLock(databaseUrl, async (db) => await db.migrate.rollback(settings, true))
}

/** Names of migrations that the code has and the database does not. Those of a newer release do not matter. */
export async function pendingMigrations(db: Knex): Promise<string[]> {
  const [, pending] = await db.migrate.list(settings)
  return pending.map((migration: { file: string }) => migration.file)
}

async function withMigrationLock<T>(databaseUrl: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const connection = await primaryAddress(databaseUrl)
  const lock = knex({ client: 'pg', connection, pool: { min: 0, max: 1 } })
  const db = knex({ client: 'pg', connection, pool: { min: 0, max: 2 } })
  try {
    // A lock of a transaction, not of a session: a pooler would keep the session, and with it the lock, after we ended.
    return await lock.transaction(async (tx) => {
      await tx.raw('SET LOCAL idle_in_transaction_session_timeout = 0')
      await untilLocked(tx)
      // knex's own lock row survives a killed process; ours cannot, and we hold it now.
      await db.migrate.forceFreeMigrationsLock(settings)
      return await work(db)
    })
  } finally {
    await db.destroy()
    await lock.destroy()
  }
}

/**
 * Asks again and again: who waits inside a statement is in turn waited for by an index that is built concurrently. Without
 * parameters, because those of a statement keep its snapshot until the next one, and so have the same effect.
 */
async function untilLocked(tx: Knex.Transaction): Promise<void> {
  for (;;) {
    const [row] = await query<{ isMine: boolean }>(
      tx,
      `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS "isMine"`,
    )
    if (row?.isMine) return
    await sleep(LOCK_AGAIN_MS)
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { applied, warning } = await migrateAndSecure(loadConfig(withLocalEnv(process.env)))
  const report = applied.length > 0 ? `applied ${applied.length} migrations` : 'the schema is up to date'
  process.stdout.write(`${report}\n`)
  if (warning !== undefined) process.stderr.write(`${warning} (docs/operations.md, "Row security")\n`)
}
