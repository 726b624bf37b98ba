import type { Knex } from 'knex'
import { execute, query } from '../platform/sql.ts'

export interface AuditEntry {
  organisationId: number | null
  userId: number | null
  /** address of the person, or what else acted */
  actor: string
  /** what was done, `noun.verb` in past tense; `denied.…` for what was refused */
  action: string
  /** what it was done to, as people know it; never a secret */
  target: string
  /** where from */
  address: string
}

/** Writes who did what, in the transaction of what was done. */
export async function insertAudit(tx: Knex, entry: AuditEntry): Promise<void> {
  await execute(
    tx,
    'INSERT INTO audit_log (organisation_id, user_id, actor, action, target, address) VALUES (?, ?, ?, ?, ?, ?)',
    [entry.organisationId, entry.userId, entry.actor, entry.action, entry.target.slice(0, 300), entry.address],
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

/** What was done in an organisation, newest first. @param beforeId only older entries */
export async function listAudit(
  db: Knex,
  organisationId: number,
  beforeId: number | null,
  limit: number,
): Promise<ListedAudit[]> {
  return await query<ListedAudit>(
    db,
    `SELECT id, at, actor, action, target, address FROM audit_log
     WHERE organisation_id = ? AND (?::bigint IS NULL OR id < ?) ORDER BY id DESC LIMIT ?`,
    [organisationId, beforeId, beforeId, limit],
  )
}
