import pg from 'pg'

/** The same server and login, another database. */
export function databaseUrl(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${encodeURIComponent(database)}`
  return other.href
}

/** The same server and database, another login. */
export function loginUrl(url: string, { role, password }: { role: string; password: string }): string {
  const other = new URL(url)
  other.username = encodeURIComponent(role)
  other.password = encodeURIComponent(password)
  return other.href
}

/** The database a URL names; `postgres` when it names none. */
export function databaseName(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres'
}

/** A machine that starts a stack or runs the tests is busy; a server that is not there refuses at once. */
const CONNECT_MS = 30_000

/** Runs a piece of administration on one connection, which is closed whatever happens. */
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

/** Creates an empty database. @returns false when it was there already (also when somebody else was faster) */
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
