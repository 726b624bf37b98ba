import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import knex, { type Knex } from 'knex'
import pg from 'pg'
import { ValidationError } from '../../errors.ts'
import { loadConfig } from '../process/config.ts'
import { withLocalEnv } from '../process/local-env.ts'
import { explainConfigError } from '../process/run-process.ts'
import { productVersion } from '../process/version.ts'
import { SILENT } from './db.ts'
import { primaryAddress, splitHosts } from './hosts.ts'
import { poolerDefaults, secureRows } from './row-security.ts'
import type { Pooler } from './server.ts'
import { query } from './sql.ts'

const directory = fileURLToPath(new URL('../../../migrations', import.meta.url))

/** An arbitrary constant: every migration of this product takes the same advisory lock. */
const MIGRATION_LOCK = 7_419_201
const LOCK_AGAIN_MS = 100

const FIRST_MIGRATION = '20261128080001'

/**
 * A statement that waits for a lock on a table makes all later statements on this table wait too. It therefore gives up
 * after this time and is repeated, so that a migration does not stop the product while, for example, a backup runs.
 */
const LOCK_WAIT_MS = 2_000
const LOCK_PAUSE_MS = 1_000
/** about ten minutes */
const LOCK_TRIES = 200

/** A migration that removes what releases before a version use, for example `20270301090000_contract_1_2_drop_x.ts`. */
const CONTRACTION = /^\d+_contract_(\d+)_(\d+)_/

const settings: Knex.MigratorConfig = {
  directory,
  loadExtensions: ['.ts'],
  tableName: 'migrations',
  // During an upgrade older processes find migrations that they do not know; these only expand the schema.
  disableMigrationsListValidation: true,
}

/**
 * Processes may call it concurrently. Throws the driver's error; a failed migration is rolled back.
 * @param folder of the migrations; tests name those of another release
 */
export async function migrateLatest(databaseUrl: string, folder = directory): Promise<string[]> {
  return await withMigrationLock(databaseUrl, async (db) => {
    await requireReleasedSchema(db)
    return await applyMigrations(db, folder)
  })
}

/**
 * Applies the migrations. If the owner of the tables has a separate login, restricts that of DATABASE_URL by row
 * security. @throws ValidationError if a transaction pooler is used without a separate owner
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
      'DATABASE_POOLER=transaction needs DATABASE_OWNER_URL: timeouts become defaults of the login, and migrations must run without them',
    )
  }
  return await withMigrationLock(databaseOwnerUrl, async (db) => {
    await requireReleasedSchema(db)
    const applied = await applyMigrations(db, directory)
    if (isOwner) return { applied, warning: 'row security is off: DATABASE_URL is the login that owns the tables' }
    const owner = new pg.Client({ connectionString: await primaryAddress(databaseOwnerUrl) })
    await owner.connect()
    try {
      await secureRows(owner, login)
      await poolerDefaults(owner, login.role, databasePooler === 'transaction' ? databaseTimeoutMs : null)
      return { applied }
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== '42501') throw error
      return { applied, warning: `row security is off: the owner has no permission to enable it (${error.message})` }
    } finally {
      await owner.end()
    }
  })
}

/** Uses one transaction per migration, so that the next one does not extend the time of its locks. */
async function applyMigrations(db: Knex, folder: string): Promise<string[]> {
  const applied: string[] = []
  for (let attempt = 1; ; ) {
    try {
      const [, [name]]: [number, string[]] = await db.migrate.up({ ...settings, directory: folder })
      if (name === undefined) return applied
      applied.push(name)
      attempt = 1
    } catch (error) {
      if (!isLockTimeout(error) || attempt++ === LOCK_TRIES) throw error
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

const isLockTimeout = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03'

function loginOf(url: string): { role: string; password: string } {
  const [address = url] = splitHosts(url)
  const { username, password } = new URL(address)
  return { role: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/** No migration converts the tables of a development build. */
async function requireReleasedSchema(db: Knex): Promise<void> {
  const [table] = await query<{ exists: boolean }>(db, `SELECT to_regclass('public.migrations') IS NOT NULL AS exists`)
  if (!table?.exists) return
  const [old] = await query(db, 'SELECT 1 FROM migrations WHERE name < ? LIMIT 1', [FIRST_MIGRATION])
  if (!old) return
  throw new ValidationError(
    'the database was created by a build before the first release; start over: make down, drop the database, delete .local, make up',
  )
}

export async function rollbackAll(databaseUrl: string): Promise<void> {
  await withMigrationLock(databaseUrl, async (db) => await db.migrate.rollback(settings, true))
}

/** Returns the reason why this release cannot work on the schema, with the remedy; null if it can. */
export async function schemaProblem(db: Knex): Promise<string | null> {
  const [applied, pending]: [{ name: string }[], unknown[]] = await db.migrate.list(settings)
  if (pending.length > 0) return `${pending.length} migrations are pending: npm run -s migrate`
  const needed = applied.map(({ name }) => neededRelease(name)).findLast((release) => release !== null)
  return needed ? `its schema needs release ${needed} or newer: start that release` : null
}

/** Returns the release that a migration requires of running processes; null if this release is sufficient. */
function neededRelease(migration: string): string | null {
  const [, major, minor] = CONTRACTION.exec(migration) ?? []
  const [ownMajor, ownMinor] = productVersion().split('.').map(Number)
  if (major === undefined || ownMajor === undefined || ownMinor === undefined) return null
  const difference = Number(major) - ownMajor || Number(minor) - ownMinor
  return difference > 0 ? `${major}.${minor}` : null
}

async function withMigrationLock<T>(databaseUrl: string, work: (db: Knex) => Promise<T>): Promise<T> {
  const connection = await primaryAddress(databaseUrl)
  const lock = knex({ client: 'pg', connection, pool: { min: 0, max: 1 } })
  const db = knex({ client: 'pg', connection, pool: { min: 0, max: 2, afterCreate: limitLockWaits }, log: SILENT })
  try {
    // A transaction lock, because a pooler would keep the session and a session lock after this process ends.
    return await lock.transaction(async (tx) => {
      await tx.raw('SET LOCAL idle_in_transaction_session_timeout = 0')
      await untilLocked(tx)
      // The lock row of knex survives a killed process. Our advisory lock does not, and we own it now.
      await db.migrate.forceFreeMigrationsLock(settings)
      return await work(db)
    })
  } finally {
    await db.destroy()
    await lock.destroy()
  }
}

function limitLockWaits(connection: pg.Client, done: (error: Error | null) => void): void {
  void connection.query(`SET lock_timeout = ${LOCK_WAIT_MS}`, done)
}

/**
 * Polls, because a statement that waits for the lock blocks a concurrent index build. The statement has no parameters:
 * with parameters its transaction would keep a snapshot, which also blocks the build.
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

function readConfig() {
  try {
    return loadConfig(withLocalEnv(process.env))
  } catch (error) {
    return explainConfigError(error)
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { applied, warning } = await migrateAndSecure(readConfig())
  const report = applied.length > 0 ? `applied ${applied.length} migrations` : 'the schema is up to date'
  process.stdout.write(`${report}\n`)
  if (warning !== undefined) process.stderr.write(`${warning} (docs/operations.md, "Row security")\n`)
}
