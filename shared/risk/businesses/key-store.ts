import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { EntityKey } from './entity.ts'
import type { EntityJwk } from './requests.ts'

/** Trusts a revoked key again. */
export async function trustKey(tx: Knex, entityId: string, thumbprint: string, jwk: EntityJwk): Promise<void> {
  await execute(
    tx,
    `INSERT INTO entity_keys (entity_id, thumbprint, jwk) VALUES (?, ?, ?)
     ON CONFLICT (entity_id, thumbprint) DO UPDATE SET revoked_at = NULL`,
    [entityId, thumbprint, JSON.stringify(jwk)],
  )
}

export async function revokeKey(tx: Knex, entityId: string, thumbprint: string): Promise<boolean> {
  const changed = await execute(
    tx,
    'UPDATE entity_keys SET revoked_at = coalesce(revoked_at, now()) WHERE entity_id = ? AND thumbprint = ?',
    [entityId, thumbprint],
  )
  return changed === 1
}

const ENTITY_KEY_COLUMNS = columns<EntityKey>()('thumbprint, jwk, created_at, revoked_at')

/** In the order of trust; includes revoked ones. */
export async function listKeys(db: Knex, entityId: string): Promise<EntityKey[]> {
  return await query(
    db,
    typed`SELECT ${ENTITY_KEY_COLUMNS} FROM entity_keys
     WHERE entity_id = ? ORDER BY created_at, thumbprint LIMIT 100`,
    [entityId],
  )
}
