import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { ContactKind } from './contact-kinds.ts'

export interface ContactRow {
  id: string
  userId: number
  kind: ContactKind
  name: string
  /** null for the address of the account */
  sealedConfig: string | null
  accountAddress: string
  usesVia: boolean
  via: string | null
  /** sealed; null unless the person may still use the integration */
  viaConfig: string | null
  recoveries: boolean
  isVerified: boolean
  isDisabled: boolean
  lastError: string
  lastSentAt: Micros | null
  /** the organisation with the monthly limits that count its messages; null without a membership */
  organisationId: number | null
}

const CONTACT_ROW_COLUMNS = columns<ContactRow>({
  id: 'm.id',
  userId: 'm.user_id',
  kind: 'm.kind',
  name: 'm.name',
  sealedConfig: 'm.sealed_config',
  accountAddress: 'u.email',
  usesVia: 'm.uses_via',
  via: 'c.uuid',
  viaConfig: 'c.sealed_config',
  recoveries: 'm.recoveries',
  isVerified: 'CASE WHEN m.sealed_config IS NULL THEN u.email_verified ELSE m.verified_at IS NOT NULL END',
  isDisabled: 'm.disabled_at IS NOT NULL',
  lastError: 'm.last_error',
  lastSentAt: microsOf('m.last_sent_at'),
  organisationId: `coalesce(p.organisation_id,
    (SELECT min(o.organisation_id) FROM memberships o WHERE o.user_id = m.user_id))`,
})

/** The integration counts only while the person is a member of its organisation. */
const SELECT = typed`SELECT ${CONTACT_ROW_COLUMNS} FROM contact_methods m JOIN users u ON u.id = m.user_id
  LEFT JOIN (integrations c JOIN projects p ON p.id = c.project_id) ON c.id = m.via_id AND c.kind = m.kind
    AND EXISTS (SELECT FROM memberships o WHERE o.organisation_id = p.organisation_id AND o.user_id = m.user_id)`

/** Creates the row for the address of the account, which is a contact method from the start. */
export async function ensureAccountMethods(tx: Knex, userIds: readonly number[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO contact_methods (user_id, kind, recoveries) SELECT id, 'email', true FROM users WHERE id = ANY(?::bigint[])
     ON CONFLICT (user_id) WHERE sealed_config IS NULL DO NOTHING`,
    [userIds],
  )
}

/** Returns the address of the account, then the others in the order of creation. Call `ensureAccountMethods` first. */
export async function listContactRows(db: Knex, userIds: readonly number[]): Promise<ContactRow[]> {
  return await query(
    db,
    typed`${SELECT} WHERE m.user_id = ANY(?::bigint[]) ORDER BY m.user_id, m.sealed_config IS NOT NULL, m.n`,
    [userIds],
  )
}

/** `userId` null means any person. */
export async function findContactRow(db: Knex, userId: number | null, id: string): Promise<ContactRow | null> {
  const rows = await query(db, typed`${SELECT} WHERE m.id = ?::uuid AND (?::bigint IS NULL OR m.user_id = ?)`, [
    id,
    userId,
    userId,
  ])
  return rows[0] ?? null
}

/** Locks the person, so that limits hold for concurrent requests. */
export async function lockPerson(tx: Knex, userId: number): Promise<void> {
  await execute(tx, 'SELECT 1 FROM users WHERE id = ? FOR NO KEY UPDATE', [userId])
}

export interface NewContact {
  userId: number
  kind: ContactKind
  name: string
  sealedConfig: string
  viaId: number | null
  recoveries: boolean
  isVerified: boolean
}

export async function insertContact(tx: Knex, contact: NewContact): Promise<string> {
  const [row] = await query<{ id: string }>(
    tx,
    `INSERT INTO contact_methods (user_id, kind, name, sealed_config, uses_via, via_id, recoveries, verified_at)
     VALUES (?, ?, ?, ?, ?, ?::bigint, ?, CASE WHEN ? THEN now() END) RETURNING id`,
    [
      contact.userId,
      contact.kind,
      contact.name,
      contact.sealedConfig,
      contact.viaId !== null,
      contact.viaId,
      contact.recoveries,
      contact.isVerified,
    ],
  )
  if (!row) throw new Error('the contact method was not inserted')
  return row.id
}

export interface ContactChange {
  name: string
  recoveries: boolean
  /** absent: unchanged; `keepsAddress` false ends the verification */
  config?: { sealed: string; viaId: number | null; keepsAddress: boolean }
}

export async function updateContact(tx: Knex, id: string, { name, recoveries, config }: ContactChange): Promise<void> {
  await execute(tx, 'UPDATE contact_methods SET name = ?, recoveries = ? WHERE id = ?::uuid', [name, recoveries, id])
  if (!config) return
  await execute(
    tx,
    `UPDATE contact_methods SET sealed_config = ?, uses_via = ?, via_id = ?::bigint, last_error = '', disabled_at = NULL,
       verified_at = CASE WHEN ? THEN verified_at END WHERE id = ?::uuid`,
    [config.sealed, config.viaId !== null, config.viaId, config.keepsAddress, id],
  )
}

export async function deleteContact(tx: Knex, userId: number, id: string): Promise<boolean> {
  const sql = 'DELETE FROM contact_methods WHERE user_id = ? AND id = ?::uuid AND sealed_config IS NOT NULL'
  return (await execute(tx, sql, [userId, id])) === 1
}

export async function setVerified(tx: Knex, id: string): Promise<void> {
  await execute(
    tx,
    `UPDATE contact_methods SET verified_at = now(), disabled_at = NULL, last_error = '' WHERE id = ?::uuid`,
    [id],
  )
}

export async function enableContact(tx: Knex, userId: number, id: string): Promise<void> {
  await execute(
    tx,
    `UPDATE contact_methods SET disabled_at = NULL, last_error = '' WHERE user_id = ? AND id = ?::uuid`,
    [userId, id],
  )
}

/** Saves a new chat id that the service reported. */
export async function saveContactConfig(db: Knex, id: string, sealedConfig: string): Promise<void> {
  await execute(db, 'UPDATE contact_methods SET sealed_config = ? WHERE id = ?::uuid AND sealed_config IS NOT NULL', [
    sealedConfig,
    id,
  ])
}

/** Returns true if this attempt disabled the method. */
export async function recordContactAttempt(
  tx: Knex,
  id: string,
  { error, disables }: { error: string; disables: boolean },
): Promise<boolean> {
  const [before] = await query<{ isEnabled: boolean }>(
    tx,
    'SELECT disabled_at IS NULL AS "isEnabled" FROM contact_methods WHERE id = ?::uuid FOR NO KEY UPDATE',
    [id],
  )
  await execute(
    tx,
    `UPDATE contact_methods SET last_sent_at = now(), last_error = ?,
       disabled_at = CASE WHEN ? THEN coalesce(disabled_at, now()) ELSE disabled_at END WHERE id = ?::uuid`,
    [error, disables, id],
  )
  return disables && before?.isEnabled === true
}
