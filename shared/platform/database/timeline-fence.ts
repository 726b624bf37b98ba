import type { SocketHolder } from './scoped-connection.ts'

export interface FencedConnection extends SocketHolder {
  query(text: string): Promise<{ rows: unknown[] }>
  once(event: 'end', listener: () => void): unknown
}

export class ReplacedServerError extends Error {
  override name = 'ReplacedServerError'
}

/** One fence is shared by all pools of a process. */
export interface TimelineFence {
  /**
   * Every promotion increments the timeline. A higher one cuts the connections to the previous server, because their
   * writes would be lost. @throws ReplacedServerError if the timeline is lower than the known one
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
        throw new ReplacedServerError(`timeline ${server.timeline} answers, and ${newest.timeline} was seen`)
      }
      newest = server
      admitted.set(connection, server)
      connection.once('end', () => admitted.delete(connection))
      for (const [other, its] of admitted) {
        if (its.system !== server.system || its.timeline < server.timeline) other.connection?.stream?.destroy()
      }
    },
  }
}

/** @returns null for a standby, or if the server or the login cannot report it */
async function serverOf(connection: FencedConnection): Promise<Server | null> {
  try {
    // A standby has no write position; the function would fail there.
    const { rows } = await connection.query(
      `SELECT system_identifier::text AS system, left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline
       FROM pg_control_system() WHERE NOT pg_is_in_recovery()`,
    )
    // The statement text determines the row type.
    const [row] = rows as { system: string; timeline: string }[]
    return row ? { system: row.system, timeline: Number.parseInt(row.timeline, 16) } : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(0A000|42...|55000)$/.test(String(error.code))) return null
    throw error
  }
}
