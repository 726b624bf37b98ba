import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { NewTokenKey, TokenAlg } from './access-token.ts'

export interface ClientRecord {
  id: number
  clientId: string
  organisationId: number
  organisationUuid: string
  env: ApiEnv
  /** of the client, independent of the organisation's entitlements */
  scopes: string[]
  /** entitled to now */
  families: string[]
  tokenAlg: TokenAlg
  isDisabled: boolean
}

const CLIENT = columns<ClientRecord>()(`
  c.id, c.client_id, c.organisation_id, o.uuid AS organisationUuid, c.env, c.scopes, c.token_alg,
  c.disabled_at IS NOT NULL AS isDisabled,
  ARRAY(SELECT family FROM organisation_families f WHERE f.organisation_id = c.organisation_id) AS families`)

export async function findClient(db: Knex, clientId: string): Promise<ClientRecord | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${CLIENT} FROM clients c JOIN organisations o ON o.id = c.organisation_id WHERE c.client_id = ?`,
    [clientId],
  )
  return rows[0]
}

/** SHA-256, at most two. */
export async function activeSecretDigests(db: Knex, id: number): Promise<Buffer[]> {
  const rows = await query<{ digest: Buffer }>(
    db,
    'SELECT digest FROM client_secrets WHERE client_id = ? AND revoked_at IS NULL',
    [id],
  )
  return rows.map(({ digest }) => digest)
}

/** `PREVIOUS` keys only verify. */
export interface TokenKeyRecord {
  kid: string
  alg: TokenAlg
  role: 'CURRENT' | 'NEXT' | 'PREVIOUS'
  publicJwk: Record<string, unknown>
  sealedPrivateJwk: string
}

const TOKEN_KEY_RECORD_COLUMNS = columns<TokenKeyRecord>()('kid, alg, role, public_jwk, sealed_private_jwk')

/** The signing ones first. Previous keys are published for a day after they stopped signing. */
export async function listTokenKeys(db: Knex): Promise<TokenKeyRecord[]> {
  const rows = await query(
    db,
    typed`SELECT ${TOKEN_KEY_RECORD_COLUMNS} FROM token_keys
     WHERE role <> 'PREVIOUS' OR role_since > now() - interval '1 day' ORDER BY role, alg, kid`,
  )
  return rows
}

/** For the creation and rotation of token keys; an arbitrary constant. */
const TOKEN_KEYS_LOCK = 7_419_301

/** Has no effect if another process did; `keys` has one per (algorithm, role). */
export async function insertFirstKeys(
  db: Knex,
  keys: readonly { key: NewTokenKey; role: 'CURRENT' | 'NEXT'; sealed: string }[],
): Promise<void> {
  await db.transaction(async (tx) => {
    await execute(tx, 'SELECT pg_advisory_xact_lock(?)', [TOKEN_KEYS_LOCK])
    for (const { key, role, sealed } of keys) {
      await execute(
        tx,
        `INSERT INTO token_keys (kid, alg, role, public_jwk, sealed_private_jwk) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (alg, role) WHERE role IN ('CURRENT', 'NEXT') DO NOTHING`,
        [key.kid, key.alg, role, JSON.stringify(key.publicJwk), sealed],
      )
    }
  })
}

/** The announced key signs, and a new one is announced. Returns the kid that signs now. */
export async function rotateTokenKeys(db: Knex, next: NewTokenKey, sealed: string): Promise<string | undefined> {
  return await db.transaction(async (tx) => {
    await execute(tx, 'SELECT pg_advisory_xact_lock(?)', [TOKEN_KEYS_LOCK])
    await execute(
      tx,
      `UPDATE token_keys SET role = 'PREVIOUS', role_since = now() WHERE alg = ? AND role = 'CURRENT'`,
      [next.alg],
    )
    const rows = await query<{ kid: string }>(
      tx,
      `UPDATE token_keys SET role = 'CURRENT', role_since = now() WHERE alg = ? AND role = 'NEXT' RETURNING kid`,
      [next.alg],
    )
    await execute(
      tx,
      `INSERT INTO token_keys (kid, alg, role, public_jwk, sealed_private_jwk) VALUES (?, ?, ?, ?, ?)`,
      [next.kid, next.alg, rows.length > 0 ? 'NEXT' : 'CURRENT', JSON.stringify(next.publicJwk), sealed],
    )
    return rows[0]?.kid ?? next.kid
  })
}
