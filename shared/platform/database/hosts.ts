import pg from 'pg'

const QUERY_TIMEOUT_MS = 2_000

/** The servers of DATABASE_URL, one of which is the primary (docs/spec/reliability.md#database-faults). */
export interface DatabaseHosts {
  /** Returns the URL of the primary; without one, of a server that answers; otherwise any. */
  address(): Promise<string>
  /** Called after a failure; the next `address` searches the primary again. */
  doubt(): void
  /** true if the primary was doubted after the last address() call */
  isDoubted(): boolean
}

/** Reads a URL in the form of libpq, `postgres://user:password@one:5432,two/name`. A single server is not queried. */
export function createDatabaseHosts(url: string, ask: typeof roleOf = roleOf): DatabaseHosts {
  const addresses = splitHosts(url)
  const [only = url] = addresses
  let known: string | null = addresses.length > 1 ? null : only
  let pending: Promise<string> | null = null
  let next = 0
  let isDoubted = false

  async function find(): Promise<string> {
    const roles = await Promise.all(addresses.map(async (address) => ({ address, role: await ask(address) })))
    const primary = roles.find(({ role }) => role === 'primary')
    if (primary) {
      known = primary.address
      return primary.address
    }
    // Without a primary, reads still work on a standby. The first failed write triggers a new search.
    const standby = roles.find(({ role }) => role === 'standby')
    return standby?.address ?? addresses[next++ % addresses.length] ?? only
  }

  return {
    async address() {
      isDoubted = false
      if (known !== null) return known
      pending ??= find().finally(() => (pending = null))
      return await pending
    },
    doubt() {
      if (addresses.length === 1) return
      known = null
      isDoubted = true
    },
    isDoubted: () => isDoubted,
  }
}

/** Returns one URL for each host, without `target_session_attrs`, because `address` selects the server. */
export function splitHosts(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/i.exec(url) ?? []
  const rest = after.replace(/([?&])target_session_attrs=[^&]*&?/, '$1').replace(/[?&]$/, '')
  return hosts.split(',').map((host) => `${before}${host.trim()}${rest}`)
}

export async function primaryAddress(url: string): Promise<string> {
  return await createDatabaseHosts(url).address()
}

async function roleOf(address: string): Promise<'primary' | 'standby' | null> {
  const client = new pg.Client({
    connectionString: address,
    connectionTimeoutMillis: QUERY_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
    return rows[0]?.standby ? 'standby' : 'primary'
  } catch {
    return null
  } finally {
    client.end().catch(() => {})
  }
}
