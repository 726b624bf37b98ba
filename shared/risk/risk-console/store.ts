import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

export interface ConsoleClient {
  clientId: string
  name: string
  scopes: string[]
  /** beginnings of its valid secrets, at most two */
  secretPrefixes: string[]
  createdAt: Date
  disabledAt: Date | null
  isDisabledByOperator: boolean
}

const CONSOLE_CLIENT_COLUMNS = columns<ConsoleClient>()(`
  c.client_id, c.name, c.scopes, c.created_at, c.disabled_at, c.disabled_by_operator AS isDisabledByOperator,
  ARRAY(SELECT prefix FROM client_secrets s WHERE s.client_id = c.id AND s.revoked_at IS NULL ORDER BY s.id) AS secretPrefixes`)

/** In order of creation. */
export async function listConsoleClients(
  db: Knex,
  { organisationId, env }: { organisationId: number; env: ApiEnv },
): Promise<ConsoleClient[]> {
  return await query(
    db,
    typed`SELECT ${CONSOLE_CLIENT_COLUMNS} FROM clients c WHERE c.organisation_id = ? AND c.env = ? ORDER BY c.id`,
    [organisationId, env],
  )
}

const ENTITLEMENTS_COLUMNS = columns<{ family: string; grantedAt: Date }>({ family: 'family', grantedAt: 'granted_at' })

/** By name. */
export async function listEntitlements(
  db: Knex,
  organisationId: number,
): Promise<{ family: string; grantedAt: Date }[]> {
  return await query(
    db,
    typed`SELECT ${ENTITLEMENTS_COLUMNS} FROM organisation_families WHERE organisation_id = ? ORDER BY family`,
    [organisationId],
  )
}

/** Days are UTC. */
export interface FamilyUsage {
  family: string
  today: number
  /** the last 30 days, including today */
  month: number
  /** since the first of this month */
  monthToDate: number
  total: number
}

const FAMILY_USAGE_COLUMNS = columns<FamilyUsage>()(`
  family, count(*) AS total, count(*) FILTER (WHERE on_date = (now() AT TIME ZONE 'UTC')::date) AS today,
  count(*) FILTER (WHERE on_date >= date_trunc('month', now() AT TIME ZONE 'UTC')::date) AS monthToDate,
  count(*) FILTER (WHERE on_date > (now() AT TIME ZONE 'UTC')::date - 30) AS month`)

export async function usageByFamily(
  db: Knex,
  { organisationId, env }: { organisationId: number; env: ApiEnv },
): Promise<FamilyUsage[]> {
  return await query(
    db,
    typed`SELECT ${FAMILY_USAGE_COLUMNS}
     FROM usage_units WHERE organisation_id = ? AND env = ? GROUP BY family ORDER BY family`,
    [organisationId, env],
  )
}

/** The token itself is not stored. */
export interface PackShare {
  id: string
  createdBy: string
  createdAt: Date
  expiresAt: Date
  revokedAt: Date | null
}

/** `digest` is of the token; `days` until expiry. */
export async function insertShare(
  tx: Knex,
  share: { id: string; packId: string; digest: Buffer; createdBy: string; days: number },
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO pack_shares (id, pack_id, digest, created_by, expires_at)
     VALUES (?, ?, ?, ?, now() + make_interval(days => ?))`,
    [share.id, share.packId, share.digest, share.createdBy, share.days],
  )
}

const PACK_SHARE_COLUMNS = columns<PackShare>()('id, created_by, created_at, expires_at, revoked_at')

export async function listShares(db: Knex, packId: string): Promise<PackShare[]> {
  return await query(
    db,
    typed`SELECT ${PACK_SHARE_COLUMNS} FROM pack_shares WHERE pack_id = ? ORDER BY created_at DESC, id LIMIT 50`,
    [packId],
  )
}

/** Returns false if the pack has no such live link. */
export async function revokeShare(tx: Knex, packId: string, id: string): Promise<boolean> {
  const changed = await execute(
    tx,
    'UPDATE pack_shares SET revoked_at = now() WHERE id = ? AND pack_id = ? AND revoked_at IS NULL',
    [id, packId],
  )
  return changed === 1
}

const SHARED_PACK_COLUMNS = columns<{ packId: string; organisationId: number; env: ApiEnv }>()(`
  p.id AS packId, p.organisation_id, p.env`)

/** Only of a live link. */
export async function findSharedPack(
  db: Knex,
  digests: readonly Buffer[],
): Promise<{ packId: string; organisationId: number; env: ApiEnv } | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${SHARED_PACK_COLUMNS} FROM pack_shares s JOIN packs p ON p.id = s.pack_id
     WHERE s.digest = ANY(?::bytea[]) AND s.revoked_at IS NULL AND s.expires_at > now()`,
    [digests],
  )
  return rows[0]
}
