import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Role } from './roles.ts'

export interface User {
  id: number
  uuid: string
  email: string
  name: string
  /** null without a password */
  passwordHash: string | null
  /** proved by mail */
  isEmailVerified: boolean
}

const USER_COLUMNS = columns<User>()(`
  users.id, users.uuid, users.email, users.name, users.password_hash, users.email_verified AS isEmailVerified`)

/** `email` is in normal form (email.ts). */
export async function findUserByEmail(db: Knex, email: string): Promise<User | null> {
  const rows = await query(db, typed`SELECT ${USER_COLUMNS} FROM users WHERE email = ?`, [email])
  return rows[0] ?? null
}

export async function findUser(db: Knex, id: number): Promise<User | null> {
  const rows = await query(db, typed`SELECT ${USER_COLUMNS} FROM users WHERE id = ?`, [id])
  return rows[0] ?? null
}

/** The caller has verified the link's signature. */
export async function findUserByUuid(db: Knex, uuid: string): Promise<User | null> {
  const rows = await query(db, typed`SELECT ${USER_COLUMNS} FROM users WHERE uuid = ?`, [uuid])
  return rows[0] ?? null
}

const USERS_COLUMNS = columns<{ userId: string; email: string; name: string; memberships: string[] }>({
  userId: 'u.uuid',
  email: 'u.email',
  name: 'u.name',
  memberships: `ARRAY(SELECT o.name || ' (' || m.role || ')' FROM memberships m JOIN organisations o ON o.id = m.organisation_id
                  WHERE m.user_id = u.id ORDER BY o.name, o.id)`,
})

/** For the operator; roles as `Acme (owner)`. */
export async function listUsers(
  db: Knex,
): Promise<{ userId: string; email: string; name: string; memberships: string[] }[]> {
  return await query(db, typed`SELECT ${USERS_COLUMNS} FROM users u ORDER BY u.email`)
}

export async function insertUser(
  tx: Knex,
  user: { email: string; name: string; passwordHash: string | null; isEmailVerified?: boolean },
): Promise<User | null> {
  const rows = await query(
    tx,
    typed`INSERT INTO users (email, name, password_hash, email_verified) VALUES (?, ?, ?, ?)
     ON CONFLICT (email) DO NOTHING RETURNING ${USER_COLUMNS}`,
    [user.email, user.name, user.passwordHash, user.isEmailVerified ?? true],
  )
  return rows[0] ?? null
}

/** Called after a link that only a mail contained was used. */
export async function verifyUserEmail(tx: Knex, id: number): Promise<void> {
  await execute(tx, 'UPDATE users SET email_verified = true WHERE id = ?', [id])
}

export type Theme = '' | 'light' | 'dark'

export function isTheme(text: string): text is Theme {
  return text === '' || text === 'light' || text === 'dark'
}

export async function updateProfile(db: Knex, id: number, look: { name: string; theme: Theme }): Promise<void> {
  await execute(db, 'UPDATE users SET name = ?, theme = ? WHERE id = ?', [look.name, look.theme, id])
}

/** The user has confirmed it by mail. Returns false if another account has it. */
export async function updateEmail(tx: Knex, id: number, email: string): Promise<boolean> {
  const changed = await execute(
    tx,
    `UPDATE users SET email = ?, email_verified = true
     WHERE id = ? AND NOT EXISTS (SELECT 1 FROM users other WHERE other.email = ? AND other.id <> ?)`,
    [email, id, email, id],
  )
  return changed === 1
}

export async function updatePassword(tx: Knex, id: number, passwordHash: string): Promise<void> {
  await execute(tx, 'UPDATE users SET password_hash = ? WHERE id = ?', [passwordHash, id])
  const purposes = ['reset-password', 'change-address']
  await execute(tx, 'DELETE FROM one_time_links WHERE user_id = ? AND purpose = ANY(?::text[])', [id, purposes])
}

/** Returns false while a set-up link can create the first owner. */
export async function hasOwner(db: Knex): Promise<boolean> {
  const rows = await query<{ found: boolean }>(
    db,
    `SELECT EXISTS (SELECT 1 FROM memberships WHERE role = 'owner') AS found`,
  )
  return rows[0]?.found ?? false
}

/** May be true without an owner, because an operator can create users with other roles. */
export async function hasAccounts(db: Knex): Promise<boolean> {
  const rows = await query<{ found: boolean }>(db, 'SELECT EXISTS (SELECT 1 FROM users) AS found')
  return rows[0]?.found ?? false
}

/** Serialises uses of a set-up link, so that only one of them creates the first owner. */
export async function lockSetUp(tx: Knex): Promise<void> {
  await execute(tx, `SELECT pg_advisory_xact_lock(hashtextextended('first owner', 11))`)
}

/** Only issuer and subject identify an account, never an address. */
export async function findUserByIdentity(db: Knex, issuer: string, subject: string): Promise<User | null> {
  const rows = await query(
    db,
    typed`SELECT ${USER_COLUMNS} FROM users JOIN user_identities ON user_identities.user_id = users.id
     WHERE user_identities.issuer = ? AND user_identities.subject = ?`,
    [issuer, subject],
  )
  return rows[0] ?? null
}

export async function insertIdentity(
  tx: Knex,
  identity: { issuer: string; subject: string; userId: number },
): Promise<boolean> {
  const changed = await execute(
    tx,
    'INSERT INTO user_identities (issuer, subject, user_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    [identity.issuer, identity.subject, identity.userId],
  )
  return changed === 1
}

export async function deleteIdentity(
  tx: Knex,
  { issuer, subject, userId }: { issuer: string; subject: string; userId: number },
): Promise<boolean> {
  const sql = 'DELETE FROM user_identities WHERE issuer = ? AND subject = ? AND user_id = ?'
  return (await execute(tx, sql, [issuer, subject, userId])) === 1
}

export async function deleteIdentities(tx: Knex, userId: number): Promise<number> {
  return await execute(tx, 'DELETE FROM user_identities WHERE user_id = ?', [userId])
}

const IDENTITIES_COLUMNS = columns<{ issuer: string; subject: string }>({ issuer: 'issuer', subject: 'subject' })

export async function listIdentities(db: Knex, userId: number): Promise<{ issuer: string; subject: string }[]> {
  return await query(
    db,
    typed`SELECT ${IDENTITIES_COLUMNS} FROM user_identities WHERE user_id = ? ORDER BY created_at`,
    [userId],
  )
}

export interface Membership {
  organisationId: number
  organisationUuid: string
  organisationName: string
  role: Role
}

const MEMBERSHIP_COLUMNS = columns<Membership>()(`
  o.id AS organisationId, o.uuid AS organisationUuid, o.name AS organisationName, m.role`)

export async function listMemberships(db: Knex, userId: number): Promise<Membership[]> {
  return await query(
    db,
    typed`SELECT ${MEMBERSHIP_COLUMNS} FROM memberships m JOIN organisations o ON o.id = m.organisation_id
     WHERE m.user_id = ? ORDER BY o.name, o.id`,
    [userId],
  )
}

/** Does not change an existing member, and returns false. */
export async function insertMembership(
  tx: Knex,
  membership: { organisationId: number; userId: number; role: Role },
): Promise<boolean> {
  const changed = await execute(
    tx,
    'INSERT INTO memberships (organisation_id, user_id, role) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    [membership.organisationId, membership.userId, membership.role],
  )
  return changed === 1
}

export interface Member {
  userId: number
  userUuid: string
  email: string
  name: string
  role: Role
  createdAt: Date
}

const MEMBER_COLUMNS = columns<Member>()('u.id AS userId, u.uuid AS userUuid, u.email, u.name, m.role, m.created_at')

export async function listMembers(db: Knex, organisationId: number): Promise<Member[]> {
  return await query(
    db,
    typed`SELECT ${MEMBER_COLUMNS}
     FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.organisation_id = ? ORDER BY m.created_at, u.id`,
    [organisationId],
  )
}

/** The person's sessions get new ids at their next request. */
export async function updateRole(tx: Knex, organisationId: number, userId: number, role: Role): Promise<void> {
  await execute(tx, 'UPDATE memberships SET role = ? WHERE organisation_id = ? AND user_id = ?', [
    role,
    organisationId,
    userId,
  ])
  await execute(tx, 'UPDATE sessions SET renew = true WHERE user_id = ?', [userId])
}

export async function deleteMembership(tx: Knex, organisationId: number, userId: number): Promise<void> {
  await execute(tx, 'DELETE FROM memberships WHERE organisation_id = ? AND user_id = ?', [organisationId, userId])
  await execute(tx, 'UPDATE sessions SET renew = true WHERE user_id = ?', [userId])
}

/** Serialises changes of owners and of counted limits. */
export async function lockOrganisation(tx: Knex, organisationId: number): Promise<void> {
  await execute(tx, 'SELECT id FROM organisations WHERE id = ? FOR NO KEY UPDATE', [organisationId])
}

/** Organisations that the command line created before there were users. */
export async function listOwnerless(db: Knex): Promise<number[]> {
  const rows = await query<{ id: number }>(
    db,
    `SELECT id FROM organisations o
     WHERE NOT EXISTS (SELECT 1 FROM memberships m WHERE m.organisation_id = o.id AND m.role = 'owner') ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}
