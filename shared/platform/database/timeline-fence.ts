import type { SocketHolder } from './scoped-connection.ts'

/** A pooled connection of the driver, as far as the fence touches it. */
export interface FencedConnection extends SocketHolder {
  query(text: string): Promise<{ rows: unknown[] }>
  once(event: 'end', listener: () => void): unknown
}

/** The server was replaced by another one, which this process has already met. */
export class ReplacedServerError extends Error {
  override name = 'ReplacedServerError'
}

/** Tells servers of one installation apart after a fail-over; shared by all pools of a process. */
export interface TimelineFence {
  /**
   * Asks a new connection for its server's timeline, which every promotion raises. At a higher one than known, the
   * connections to the server before are cut: what they wrote would be lost. A standby and a server that does not tell
   * are let in as they are.
   * @throws ReplacedServerError at a lower timeline than known
   */
  admit(connection: FencedConnection): Promise<void>
}

/** `system` is made with the cluster and stays: timelines of two clusters say nothing of each other. */
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

/** @returns null for a standby, and where the server or the login may not tell */
async function serverOf(connection: FencedConnection): Promise<Server | null> {
  try {
    // A standby has no position of its own to write at: asked for it, it fails.
    const { rows } = await connection.query(
      `SELECT system_identifier::text AS system, left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline
       FROM pg_control_system() WHERE NOT pg_is_in_recovery()`,
    )
    // The statement's own text decides what its rows are.
    const [row] = rows as { system: string; timeline: string }[]
    return row ? { system: row.system, timeline: Number.parseInt(row.timeline, 16) } : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(0A000|42...|55000)$/.test(String(error.code))) return null
    throw error
  }
}
