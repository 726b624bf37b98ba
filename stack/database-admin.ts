import pg from 'pg'
import type { Services } from './resolve-services.ts'

export function databaseUrl(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${encodeURIComponent(database)}`
  return other.href
}

export function loginUrl(url: string, { role, password }: { role: string; password: string }): string {
  const other = new URL(url)
  other.username = encodeURIComponent(role)
  other.password = encodeURIComponent(password)
  return other.href
}

export function databaseName(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres'
}

/** Long, because the machine may be busy; a missing server refuses at once. */
const CONNECT_MS = 30_000

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS })
  client.on('error', () => undefined) // the query in flight reports it
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export async function databaseExists(client: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
  return rowCount === 1
}

/** @returns false if it exists, also if another process created it concurrently */
export async function createDatabaseIfMissing(client: pg.Client, name: string): Promise<boolean> {
  if (await databaseExists(client, name)) return false
  try {
    await client.query(`create database ${pg.escapeIdentifier(name)}`)
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && (error.code === '42P04' || error.code === '23505')) return false
    throw error
  }
}

/**
 * Returns the owner's URL for migrations, and one of a login that row security restricts. URLs in the environment are
 * used unchanged; a single URL is used for both.
 * @param password of the login that migrations create
 */
export function databaseLogins(
  owner: Pick<Services['postgres'], 'url' | 'origin'>,
  given: { url: string | undefined; ownerUrl: string | undefined },
  password: string,
): { DATABASE_URL: string; DATABASE_OWNER_URL?: string } {
  if (owner.origin === 'environment' && given.ownerUrl === undefined) return { DATABASE_URL: owner.url }
  const role = `${databaseName(owner.url)}_login`
  const own = loginUrl(owner.url, { role, password })
  const DATABASE_URL = owner.origin === 'environment' ? (given.url ?? own) : own
  return { DATABASE_URL, DATABASE_OWNER_URL: owner.url }
}
