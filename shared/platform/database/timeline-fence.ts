import type { SocketHolder } from './scoped-connection.ts'

export interface FencedConnection extends SocketHolder {
  query(text: string): Promise<{ rows: unknown[] }>
  once(event: 'end', listener: () => void): unknown
}

export class ReplacedServerError extends Error {
  override name = 'ReplacedServerError'
}

/** Keeps a process from using the previous primary after a failover. All pools of a process share one. */
export interface TimelineFence {
  /**
   * Every promotion increments the timeline. If the new connection has a higher timeline or belongs to another cluster,
   * the other connections are closed: writes to the previous server would be lost.
   * @throws ReplacedServerError if the same cluster was already used with a higher timeline
   */
  admit(connection: FencedConnection): Promise<void>
}

/** `system` is fixed at initdb; timelines of different clusters are not comparable. */
interface Server {
  system: string
  timeline: number
}

export function createTimelineFence(): TimelineFence {
  let newest: Server | null = null
  const admitted = new Map<FencedConnection, Server>()

  return {
    async admit(connection) {
      const server = await serverOf(connection)
      if (server === null) return
      if (newest?.system === server.system && server.timeline < newest.timeline) {
        throw new ReplacedServerError(
          `the server is on timeline ${server.timeline}, but this process has already used timeline ${newest.timeline}: another server was promoted`,
        )
      }
      newest = server
      admitted.set(connection, server)
      connection.once('end', () => admitted.delete(connection))
      for (const [other, otherServer] of admitted) {
        const isReplaced = otherServer.system !== server.system || otherServer.timeline < server.timeline
        if (isReplaced) other.connection?.stream?.destroy()
      }
    },
  }
}

/** @returns null for a standby, or if the server or the login cannot report it */
async function serverOf(connection: FencedConnection): Promise<Server | null> {
  try {
    // pg_current_wal_lsn() fails on a standby.
    const { rows } = await connection.query(
      `SELECT system_identifier::text AS system, left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline
       FROM pg_control_system() WHERE NOT pg_is_in_recovery()`,
    )
    // The statement text determines the row type.
    const [row] = rows as { system: string; timeline: string }[]
    return row ? { system: row.system, timeline: Number.parseInt(row.timeline, 16) } : null
  } catch (error) {
    // Unsupported function, no permission or no such function, wrong state.
    if (error instanceof Error && 'code' in error && /^(0A000|42...|55000)$/.test(String(error.code))) return null
    throw error
  }
}
