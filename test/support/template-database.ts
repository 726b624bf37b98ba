import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { migrateLatest } from '#shared/platform/database/migrate.ts'
import { secureRows } from '#shared/platform/database/row-security.ts'
import { databaseExists, databaseUrl, withClient } from '../../stack/database-admin.ts'

const migrations = join(import.meta.dirname, '../../migrations')
const rowSecurity = join(import.meta.dirname, '../../shared/platform/database/row-security.ts')

/** The login of the product in tests, with row security like in `make up` and compose.yaml. */
export const testLogin = { role: 'signalbox_test_login', password: 'only-for-tests' }

const lock = 7_316_900_412n // any number not used elsewhere: one process migrates, the others wait for its result

/**
 * Returns the name of a migrated, empty database to clone. It contains a hash of the migrations, so a changed migration
 * leads to another template. The database gets this name only when it is complete.
 */
export async function ensureTemplate(server: string): Promise<{ name: string; isNew: boolean }> {
  const name = `signalbox_template_${await migrationsHash()}`
  const isNew = await withClient(server, async (client) => {
    await client.query('select pg_advisory_lock($1)', [lock])
    if (await databaseExists(client, name)) return false
    const draft = `${name}_draft`
    await client.query(`drop database if exists ${pg.escapeIdentifier(draft)} with (force)`)
    await client.query(`create database ${pg.escapeIdentifier(draft)}`)
    await migrateLatest(databaseUrl(server, draft))
    await withClient(databaseUrl(server, draft), (owner) => secureRows(owner, testLogin))
    await client.query(`alter database ${pg.escapeIdentifier(draft)} rename to ${pg.escapeIdentifier(name)}`)
    return true
  })
  return { name, isNew }
}

async function migrationsHash(): Promise<string> {
  const hash = createHash('sha256')
  for (const file of (await readdir(migrations)).sort()) {
    hash
      .update(file)
      .update('\0')
      .update(await readFile(join(migrations, file)))
      .update('\0')
  }
  hash.update(await readFile(rowSecurity))
  return hash.digest('hex').slice(0, 12)
}
