import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { type Actor, auditedActor } from '../actor.ts'

export interface AuditEntry {
  organisationId: number | null
  userId: number | null
  /** address of the person, or the name of another kind of actor */
  actor: string
  /** past tense; `denied.…` for refused actions */
  action: string
  /** as users know it; never a secret */
  target: string
  address: string
}

export async function insertAudit(tx: Knex, entry: AuditEntry): Promise<void> {
  await execute(
    tx,
    'INSERT INTO audit_log (organisation_id, user_id, actor, action, target, address) VALUES (?, ?, ?, ?, ?, ?)',
    [entry.organisationId, entry.userId, entry.actor, entry.action, entry.target.slice(0, 300), entry.address],
  )
}

/** In the transaction of its effect. Requests of risk signals clients are metered instead. */
export async function insertActorAudit(
  tx: Knex,
  actor: Actor,
  entry: { organisationId: number; action: string; target: string },
): Promise<void> {
  if (actor.kind === 'client') return
  await insertAudit(tx, { ...auditedActor(actor), ...entry })
}

/** Without an organisation, uses the log of the installation. */
export async function insertAccountAudit(
  tx: Knex,
  entry: Pick<AuditEntry, 'actor' | 'action' | 'address'> & { userId: number },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO audit_log (organisation_id, user_id, actor, action, address)
     SELECT m.organisation_id, u.id, ?, ?, ? FROM users u LEFT JOIN memberships m ON m.user_id = u.id WHERE u.id = ?`,
    [entry.actor, entry.action, entry.address, entry.userId],
  )
}

/** Reads the oldest page, because ids grow with time. Returns the number of deleted entries. */
export async function pruneAudit(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM audit_log WHERE id IN (
       SELECT id FROM (SELECT id, at FROM audit_log ORDER BY id LIMIT ?) oldest
       WHERE at < now() - make_interval(days => ?::int))`,
    [limit, days],
  )
}

export interface ListedAudit {
  id: number
  at: Date
  actor: string
  action: string
  target: string
  address: string
}

export interface AuditFilter {
  nouns: readonly string[] | null
  /** part of actor, target or address; empty for all */
  text: string
  beforeId: number | null
  limit: number
}

const LISTED_AUDIT_COLUMNS = columns<ListedAudit>()('id, at, actor, action, target, address')

export async function listAudit(db: Knex, organisationId: number, filter: AuditFilter): Promise<ListedAudit[]> {
  const { nouns, text, beforeId, limit } = filter
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  return await query(
    db,
    typed`SELECT ${LISTED_AUDIT_COLUMNS} FROM audit_log
     WHERE organisation_id = ? AND (?::bigint IS NULL OR id < ?)
       AND (?::text[] IS NULL OR split_part(action, '.', 1) = ANY(?::text[]))
       AND (? = '' OR concat_ws(' ', actor, target, address) ILIKE ?)
     ORDER BY id DESC LIMIT ?`,
    [organisationId, beforeId, beforeId, nouns, nouns, text, pattern, limit],
  )
}
