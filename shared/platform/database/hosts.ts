import pg from 'pg'

/** Longest wait for one server of several to say whether it may be written to, in milliseconds. */
const ASK_MS = 2_000

/** The servers that DATABASE_URL names, of which one may be written to at a time (docs/spec/reliability.md#database-faults). */
export interface DatabaseHosts {
  /** The address for a new connection: the primary's; of several without one, any that answers; else any. */
  address(): Promise<string>
  /** The server may not be the primary any more: the next connection asks all of them. */
  doubt(): void
  /** whether that was said since the last address was given */
  isDoubted(): boolean
}

/**
 * Reads an address as libpq writes it, `postgres://user:password@one:5432,two/name`. One server is never asked.
 * @param ask what a server is; for tests
 */
export function createDatabaseHosts(url: string, ask: typeof roleOf = roleOf): DatabaseHosts {
  const addresses = splitHosts(url)
  const [only = url] = addresses
  let known: string | null = addresses.length > 1 ? null : only
  let asking: Promise<string> | null = null
  let turn = 0
  let isDoubted = false

  async function find(): Promise<string> {
    const roles = await Promise.all(addresses.map(async (address) => ({ address, role: await ask(address) })))
    const primary = roles.find(({ role }) => role === 'primary')
    if (primary) {
      known = primary.address
      return primary.address
    }
    // Nobody to write to: what can be read is still read, and the first write that fails lets us ask again.
    const standby = roles.find(({ role }) => role === 'standby')
    return standby?.address ?? addresses[turn++ % addresses.length] ?? only
  }

  return {
    async address() {
      isDoubted = false
      if (known !== null) return known
      asking ??= find().finally(() => (asking = null))
      return await asking
    },
    doubt() {
      if (addresses.length === 1) return
      known = null
      isDoubted = true
    },
    isDoubted: () => isDoubted,
  }
}

/** The address of each server that an address names; `target_session_attrs` is what we do anyway. */
export function splitHosts(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/i.exec(url) ?? []
  const rest = after.replace(/([?&])target_session_attrs=[^&]*&?/, '$1').replace(/[?&]$/, '')
  return hosts.split(',').map((host) => `${before}${host.trim()}${rest}`)
}

/** The address of the one server that may be written to, for what lives for one command. */
export async function primaryAddress(url: string): Promise<string> {
  return await createDatabaseHosts(url).address()
}

async function roleOf(address: string): Promise<'primary' | 'standby' | null> {
  const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: ASK_MS, query_timeout: ASK_MS })
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
