import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Budgets } from './agent-key.ts'

export interface AgentKey {
  id: number
  keyId: string
  organisationId: number
  env: ApiEnv
  name: string
  scopes: string[]
  /** calls per UTC day; null is unlimited */
  dailyLimit: number | null
  budgets: Budgets
  projects: string[]
  madeBy: string
  createdAt: Date
  expiresAt: Date
  revokedAt: Date | null
  lastUsedAt: Date | null
  calls: number
}

const KEY = columns<AgentKey>({
  id: 'k.id',
  keyId: 'k.key_id',
  organisationId: 'k.organisation_id',
  env: 'k.env',
  name: 'k.name',
  scopes: 'k.scopes',
  dailyLimit: 'k.daily_limit',
  budgets: 'k.budgets',
  madeBy: 'k.made_by',
  createdAt: 'k.created_at',
  expiresAt: 'k.expires_at',
  revokedAt: 'k.revoked_at',
  projects: `ARRAY(SELECT p.uuid::text FROM agent_key_projects kp JOIN projects p ON p.id = kp.project_id
        WHERE kp.agent_key_id = k.id ORDER BY p.id)`,
  lastUsedAt: '(SELECT max(last_at) FROM agent_key_days d WHERE d.agent_key_id = k.id)',
  calls: '(SELECT coalesce(sum(calls), 0)::int FROM agent_key_days d WHERE d.agent_key_id = k.id)',
})

interface Owner {
  organisationId: number
  env: ApiEnv
}

export interface AgentKeyInsert extends Owner {
  keyId: string
  digest: Buffer
  name: string
  scopes: readonly string[]
  dailyLimit: number | null
  budgets: Budgets
  /** uuids; those of other organisations are ignored, so the caller compares with the result */
  projects: readonly string[]
  madeBy: string
  expiresAt: Date
}

export async function insertAgentKey(tx: Knex, key: AgentKeyInsert): Promise<AgentKey> {
  const [row] = await query<{ id: number }>(
    tx,
    `INSERT INTO agent_keys (key_id, organisation_id, env, name, digest, scopes, daily_limit, budgets, made_by, expires_at)
     VALUES (?, ?, ?, ?, ?, ?::text[], ?, ?::jsonb, ?, ?) RETURNING id`,
    [
      key.keyId,
      key.organisationId,
      key.env,
      key.name,
      key.digest,
      key.scopes,
      key.dailyLimit,
      JSON.stringify(key.budgets),
      key.madeBy,
      key.expiresAt,
    ],
  )
  const id = row?.id ?? 0
  await execute(
    tx,
    `INSERT INTO agent_key_projects (agent_key_id, project_id)
     SELECT ?, id FROM projects WHERE organisation_id = ? AND uuid = ANY(?::uuid[])`,
    [id, key.organisationId, key.projects],
  )
  const stored = await findAgentKey(tx, key, key.keyId)
  if (!stored) throw new Error('the agent key was not stored')
  return stored
}

/** Undefined alike for a missing key and for one of another owner. */
export async function findAgentKey(db: Knex, owner: Owner, keyId: string): Promise<AgentKey | undefined> {
  const [key] = await query(
    db,
    typed`SELECT ${KEY} FROM agent_keys k WHERE k.organisation_id = ? AND k.env = ? AND k.key_id = ?`,
    [owner.organisationId, owner.env, keyId],
  )
  return key
}

/** Newest first; includes revoked and expired ones. `before` is the last id of the previous page. */
export async function listAgentKeys(
  db: Knex,
  owner: Owner,
  page: { before: number | null; limit: number },
): Promise<AgentKey[]> {
  return await query(
    db,
    typed`SELECT ${KEY} FROM agent_keys k
     WHERE k.organisation_id = ? AND k.env = ? AND (?::bigint IS NULL OR k.id < ?::bigint)
     ORDER BY k.id DESC LIMIT ?`,
    [owner.organisationId, owner.env, page.before, page.before, page.limit],
  )
}

export async function countActiveAgentKeys(db: Knex, owner: Owner): Promise<number> {
  const [row] = await query<{ n: number }>(
    db,
    `SELECT count(*)::int AS n FROM agent_keys
     WHERE organisation_id = ? AND env = ? AND revoked_at IS NULL AND expires_at > now()`,
    [owner.organisationId, owner.env],
  )
  return row?.n ?? 0
}

/** Idempotent. Returns if there is such a key. */
export async function revokeAgentKey(tx: Knex, owner: Owner, keyId: string): Promise<boolean> {
  const changed = await execute(
    tx,
    `UPDATE agent_keys SET revoked_at = coalesce(revoked_at, now())
     WHERE organisation_id = ? AND env = ? AND key_id = ?`,
    [owner.organisationId, owner.env, keyId],
  )
  return changed > 0
}

export interface AgentLogin {
  id: number
  keyId: string
  digest: Buffer
  organisationId: number
  organisationUuid: string
  env: ApiEnv
  name: string
  scopes: string[]
  /** entitled to now */
  families: string[]
  dailyLimit: number | null
  budgets: Budgets
  projects: { id: number; uuid: string }[]
  expiresAt: Date
  revokedAt: Date | null
}

const AGENT_LOGIN_COLUMNS = columns<AgentLogin>({
  id: 'k.id',
  keyId: 'k.key_id',
  digest: 'k.digest',
  organisationId: 'k.organisation_id',
  organisationUuid: 'o.uuid',
  env: 'k.env',
  name: 'k.name',
  scopes: 'k.scopes',
  dailyLimit: 'k.daily_limit',
  budgets: 'k.budgets',
  expiresAt: 'k.expires_at',
  revokedAt: 'k.revoked_at',
  families: 'ARRAY(SELECT family FROM organisation_families f WHERE f.organisation_id = k.organisation_id)',
  projects: `coalesce((SELECT json_agg(json_build_object('id', p.id, 'uuid', p.uuid) ORDER BY p.id)
                      FROM agent_key_projects kp JOIN projects p ON p.id = kp.project_id
                      WHERE kp.agent_key_id = k.id AND p.organisation_id = k.organisation_id), '[]')`,
})

export async function findAgentLogin(db: Knex, keyId: string): Promise<AgentLogin | undefined> {
  const [login] = await query(
    db,
    typed`SELECT ${AGENT_LOGIN_COLUMNS}
     FROM agent_keys k JOIN organisations o ON o.id = k.organisation_id WHERE k.key_id = ?`,
    [keyId],
  )
  return login
}
