import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

export interface EntityPassport {
  id: string
  vei: string
  /** JSON */
  body: string
  credential: string
  revokedAt: Date | null
  /** JSON */
  revocation: string | null
}

const COLUMNS = columns<EntityPassport>()('p.id, e.vei, r.body, p.credential, p.revoked_at, p.revocation')

const SELECT = typed`SELECT ${COLUMNS}
  FROM entity_passports p JOIN entity_records r ON r.id = p.id JOIN entities e ON e.id = p.entity_id`

/** The anchored object must be stored before. */
export async function insertEntityPassport(
  tx: Knex,
  made: { id: string; entityId: string; listN: number; idx: number; credential: string },
): Promise<void> {
  await execute(tx, 'INSERT INTO entity_passports (id, entity_id, list_n, idx, credential) VALUES (?, ?, ?, ?, ?)', [
    made.id,
    made.entityId,
    made.listN,
    made.idx,
    made.credential,
  ])
}

export async function listEntityPassports(db: Knex, entityId: string, limit = 200): Promise<EntityPassport[]> {
  return await query(db, typed`${SELECT} WHERE p.entity_id = ? ORDER BY r.seq DESC LIMIT ?`, [entityId, limit])
}

export async function lockEntityPassport(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
): Promise<EntityPassport | undefined> {
  const [row] = await query(
    tx,
    typed`${SELECT} WHERE p.id = ? AND e.organisation_id = ? AND e.env = ? FOR UPDATE OF p`,
    [id, owner.organisationId, owner.env],
  )
  return row
}

export async function setEntityPassportRevoked(
  tx: Knex,
  id: string,
  revoked: { at: Date; revocation: string; sealedReason: string | null },
): Promise<void> {
  await execute(tx, 'UPDATE entity_passports SET revoked_at = ?, revocation = ?, sealed_reason = ? WHERE id = ?', [
    revoked.at,
    revoked.revocation,
    revoked.sealedReason,
    id,
  ])
}

export async function eraseRevocationReasons(tx: Knex, entityId: string): Promise<void> {
  await execute(
    tx,
    'UPDATE entity_passports SET sealed_reason = NULL WHERE entity_id = ? AND sealed_reason IS NOT NULL',
    [entityId],
  )
}
