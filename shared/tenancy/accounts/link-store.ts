import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Role } from './roles.ts'

export type LinkPurpose = 'set-up' | 'reset-password' | 'invitation' | 'change-address' | 'restore-address'

const LIFETIMES = {
  'set-up': '1 day',
  'reset-password': '1 hour',
  invitation: '7 days',
  'change-address': '1 day',
  'restore-address': '7 days',
} as const satisfies Record<LinkPurpose, string>

export interface OneTimeLink {
  id: number
  userId: number | null
  organisationId: number | null
  organisationName: string | null
  email: string
  role: Role | ''
  /** opened by the token that only the mail contains */
  isMailed: boolean
  createdAt: Date
}

/**
 * Stores only digests. The caller must delete links that it replaces. `link.mailedDigest` is of a second token for
 * the same link, only sent by mail.
 */
export async function insertLink(
  db: Knex,
  link: {
    purpose: LinkPurpose
    digest: Buffer
    mailedDigest?: Buffer
    userId?: number
    organisationId?: number
    email?: string
    role?: Role
  },
): Promise<void> {
  await execute(
    db,
    `INSERT INTO one_time_links (purpose, digest, mailed_digest, user_id, organisation_id, email, role, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, now() + ?::interval)`,
    [
      link.purpose,
      link.digest,
      link.mailedDigest ?? null,
      link.userId ?? null,
      link.organisationId ?? null,
      link.email ?? '',
      link.role ?? '',
      LIFETIMES[link.purpose],
    ],
  )
}

const ONE_TIME_LINK_COLUMNS = columns<OneTimeLink>()(`
  l.id, l.user_id, l.organisation_id, o.name AS organisationName, l.email, l.role, l.created_at,
  coalesce(l.mailed_digest = ANY(?::bytea[]), false) AS isMailed`)

/** Null for unknown, used and expired links. */
export async function findLink(
  db: Knex,
  purpose: LinkPurpose,
  digests: readonly Buffer[],
): Promise<OneTimeLink | null> {
  const rows = await query(
    db,
    typed`SELECT ${ONE_TIME_LINK_COLUMNS} FROM one_time_links l LEFT JOIN organisations o ON o.id = l.organisation_id
     WHERE l.purpose = ? AND (l.digest = ANY(?::bytea[]) OR l.mailed_digest = ANY(?::bytea[])) AND l.expires_at > now()`,
    [digests, purpose, digests, digests],
  )
  return rows[0] ?? null
}

/** In the transaction of its effect. Returns false if it was used before. */
export async function useLink(tx: Knex, id: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM one_time_links WHERE id = ?', [id])) === 1
}

export async function deleteLinks(tx: Knex, purpose: LinkPurpose, userId?: number): Promise<void> {
  if (userId === undefined) await execute(tx, 'DELETE FROM one_time_links WHERE purpose = ?', [purpose])
  else await execute(tx, 'DELETE FROM one_time_links WHERE purpose = ? AND user_id = ?', [purpose, userId])
}

export async function deleteLaterLinks(tx: Knex, userId: number, id: number): Promise<void> {
  await execute(tx, 'DELETE FROM one_time_links WHERE user_id = ? AND id > ?', [userId, id])
}

export interface Invitation {
  id: number
  email: string
  role: Role
  createdAt: Date
  expiresAt: Date
}

const INVITATION_COLUMNS = columns<Invitation>()('id, email, role, created_at, expires_at')

export async function listInvitations(db: Knex, organisationId: number): Promise<Invitation[]> {
  return await query(
    db,
    typed`SELECT ${INVITATION_COLUMNS} FROM one_time_links
     WHERE organisation_id = ? AND purpose = 'invitation' AND expires_at > now() ORDER BY id`,
    [organisationId],
  )
}

export async function deleteInvitations(
  tx: Knex,
  organisationId: number,
  which: { id: number } | { email: string },
): Promise<void> {
  const [condition, value] = 'id' in which ? ['id = ?', which.id] : ['email = ?', which.email]
  await execute(
    tx,
    `DELETE FROM one_time_links WHERE organisation_id = ? AND purpose = 'invitation' AND ${condition}`,
    [organisationId, value],
  )
}
