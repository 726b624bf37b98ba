import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Theme } from './store.ts'

/** A session ends at this age, or earlier when unused. */
const LIFETIME = '30 days'
const IDLE = '7 days'

export interface Session {
  id: number
  userId: number
  userUuid: string
  email: string
  name: string
  theme: Theme
  /** empty for the default */
  tz: string
  /** the person's rights changed, so the session needs a new id */
  renew: boolean
}

export async function insertSession(
  db: Knex,
  session: { digest: Buffer; userId: number; address: string; agent: string },
): Promise<void> {
  await execute(db, 'INSERT INTO sessions (digest, user_id, address, agent) VALUES (?, ?, ?, ?)', [
    session.digest,
    session.userId,
    session.address,
    session.agent,
  ])
}

const SESSION_COLUMNS = columns<Session>()(`
  s.id, s.renew, u.id AS userId, u.uuid AS userUuid, u.email, u.name, u.theme, coalesce(r.tz, '') AS tz`)

export async function findSession(db: Knex, digests: readonly Buffer[]): Promise<Session | null> {
  const rows = await query(
    db,
    typed`SELECT ${SESSION_COLUMNS}
     FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN user_reports r ON r.user_id = u.id
     WHERE s.digest = ANY(?::bytea[]) AND s.created_at > now() - ?::interval AND s.seen_at > now() - ?::interval`,
    [digests, LIFETIME, IDLE],
  )
  return rows[0] ?? null
}

/** Live, unchanged, and of members of the organisation. */
export async function liveSessionsOf(
  db: Knex,
  organisationId: number,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await query<{ id: number }>(
    db,
    `SELECT s.id FROM sessions s JOIN memberships m ON m.user_id = s.user_id AND m.organisation_id = ?
     WHERE s.id = ANY(?::bigint[]) AND NOT s.renew
       AND s.created_at > now() - ?::interval AND s.seen_at > now() - ?::interval`,
    [organisationId, ids, LIFETIME, IDLE],
  )
  return new Set(rows.map(({ id }) => id))
}

/** At most once a minute. */
export async function touchSession(db: Knex, id: number, address: string): Promise<void> {
  await execute(
    db,
    `UPDATE sessions SET seen_at = now(), address = ? WHERE id = ? AND seen_at < now() - interval '1 minute'`,
    [address, id],
  )
}

/** Returns false when another request renewed it first. */
export async function renewSession(db: Knex, id: number, digest: Buffer): Promise<boolean> {
  const changed = await execute(db, 'UPDATE sessions SET digest = ?, renew = false WHERE id = ? AND renew', [
    digest,
    id,
  ])
  return changed === 1
}

export async function deleteSession(db: Knex, userId: number, id: number): Promise<boolean> {
  return (await execute(db, 'DELETE FROM sessions WHERE user_id = ? AND id = ?', [userId, id])) === 1
}

/** `but` is a session that stays. Returns the number of deleted ones. */
export async function deleteSessions(db: Knex, userId: number, but?: number): Promise<number> {
  return await execute(db, 'DELETE FROM sessions WHERE user_id = ? AND id IS DISTINCT FROM ?', [userId, but ?? null])
}

/** Returns their number. */
export async function deleteAllSessions(db: Knex): Promise<number> {
  return await execute(db, 'DELETE FROM sessions')
}

export interface ListedSession {
  id: number
  address: string
  agent: string
  createdAt: Date
  seenAt: Date
}

const LISTED_SESSION_COLUMNS = columns<ListedSession>()('id, address, agent, created_at, seen_at')

export async function listSessions(db: Knex, userId: number): Promise<ListedSession[]> {
  return await query(
    db,
    typed`SELECT ${LISTED_SESSION_COLUMNS} FROM sessions
     WHERE user_id = ? AND created_at > now() - ?::interval AND seen_at > now() - ?::interval ORDER BY seen_at DESC`,
    [userId, LIFETIME, IDLE],
  )
}
