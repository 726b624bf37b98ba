import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { DomainKey } from './domain-key.ts'
import { generateSigningKey, type SigningKey } from './signing-key.ts'

type KeyPurpose = 'vei' | 'loan-ref' | 'financing-oprf' | 'financing-po' | 'evidence-signing' | SigningPurpose

/** Passports with their status lists, requests to wallets, credentials of the sandbox's issuer. */
export type SigningPurpose = 'passport-signing' | 'request-signing' | 'sandbox-issuer'

/** `record` is the anchored object that announces its public key. */
export type NewDomainKey = DomainKey & { record: string | null }

/** Locks (this, hash of environment and purpose). */
const DOMAIN_KEYS_LOCK = 7_421

/**
 * Newest epoch first; creates the keys once per installation and environment. Encrypts values again that are sealed
 * under the previous SECRET_KEY. `make` runs in the transaction that stores them.
 */
export async function ensureDomainKeys(
  db: Knex,
  secrets: Secrets,
  env: ApiEnv,
  purpose: KeyPurpose,
  make: (tx: Knex.Transaction) => Promise<NewDomainKey[]>,
): Promise<DomainKey[]> {
  const known = await loadKeys(db, secrets, env, purpose)
  if (known.length > 0) return known
  return await db.transaction(async (tx) => {
    await lockKeys(tx, env, purpose)
    const others = await loadKeys(tx, secrets, env, purpose)
    if (others.length > 0) return others
    for (const key of await make(tx)) await insertKey(tx, secrets, env, purpose, key)
    return await loadKeys(tx, secrets, env, purpose)
  })
}

/** CURRENT becomes PREVIOUS. `make` runs in the transaction; undefined means no new key. Returns the epoch. */
export async function replaceDomainKey(
  db: Knex,
  secrets: Secrets,
  env: ApiEnv,
  purpose: KeyPurpose,
  make: (tx: Knex.Transaction) => Promise<NewDomainKey | undefined>,
): Promise<number | undefined> {
  return await db.transaction(async (tx) => {
    await lockKeys(tx, env, purpose)
    const key = await make(tx)
    if (key === undefined) return undefined
    await execute(tx, `UPDATE domain_keys SET state = 'PREVIOUS' WHERE env = ? AND purpose = ? AND state = 'CURRENT'`, [
      env,
      purpose,
    ])
    await insertKey(tx, secrets, env, purpose, key)
    return key.epoch
  })
}

async function lockKeys(tx: Knex.Transaction, env: ApiEnv, purpose: KeyPurpose): Promise<void> {
  await execute(tx, 'SELECT pg_advisory_xact_lock(?, hashtext(?))', [DOMAIN_KEYS_LOCK, `${env}/${purpose}`])
}

async function insertKey(
  tx: Knex.Transaction,
  secrets: Secrets,
  env: ApiEnv,
  purpose: KeyPurpose,
  { epoch, state, key, publicKey, record }: NewDomainKey,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO domain_keys (env, purpose, epoch, sealed_key, public_key, state, record)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [env, purpose, epoch, secrets.seal('domain-key', key.toString('base64')), publicKey, state, record],
  )
}

const KEYS_COLUMNS = columns<{ epoch: number; state: DomainKey['state']; sealed: string; publicKey: Buffer | null }>()(`
  epoch, state, sealed_key AS sealed, public_key`)

async function loadKeys(db: Knex, secrets: Secrets, env: ApiEnv, purpose: KeyPurpose): Promise<DomainKey[]> {
  const rows = await query(
    db,
    typed`SELECT ${KEYS_COLUMNS} FROM domain_keys
     WHERE env = ? AND purpose = ? ORDER BY epoch DESC`,
    [env, purpose],
  )
  for (const { epoch, sealed } of rows) {
    const resealed = secrets.reseal('domain-key', sealed)
    if (resealed === null) continue
    await execute(
      db,
      'UPDATE domain_keys SET sealed_key = ? WHERE env = ? AND purpose = ? AND epoch = ? AND sealed_key = ?',
      [resealed, env, purpose, epoch, sealed],
    )
  }
  return rows.map(({ sealed, ...key }) => ({ ...key, key: Buffer.from(secrets.open('domain-key', sealed), 'base64') }))
}

/** Keys of these purposes were derived from SECRET_KEY before; epoch 1 has the same keys. */
const DERIVED = {
  'loan-ref': 'colending-loan-ref-1',
  'financing-po': 'first-financing-fingerprint-1',
  'financing-oprf': 'first-financing-fingerprint-1',
} as const

export function derivedKey(secrets: Secrets, purpose: keyof typeof DERIVED, state: DomainKey['state']): NewDomainKey {
  return { epoch: 1, state, key: secrets.derive(DERIVED[purpose]), publicKey: null, record: null }
}

/** Entity identifiers, loan references and purchase orders have a key that is never replaced. */
export async function ensureKey(
  db: Knex,
  secrets: Secrets,
  env: ApiEnv,
  purpose: 'vei' | 'loan-ref' | 'financing-po',
): Promise<Buffer> {
  const [current] = await ensureDomainKeys(db, secrets, env, purpose, async () => [
    purpose === 'vei'
      ? { epoch: 1, state: 'CURRENT', key: randomBytes(32), publicKey: null, record: null }
      : derivedKey(secrets, purpose, 'CURRENT'),
  ])
  if (!current) throw new Error(`the key for ${purpose} is missing`)
  return current.key
}

/** ES256, with its `kid`. Creates it once per installation and environment. */
export async function ensureSigningKey(
  db: Knex,
  secrets: Secrets,
  env: ApiEnv,
  purpose: SigningPurpose,
): Promise<SigningKey> {
  const [current] = await ensureDomainKeys(db, secrets, env, purpose, async () => {
    const { privateJwk, publicJwk } = await generateSigningKey()
    const key = Buffer.from(JSON.stringify(privateJwk))
    return [{ epoch: 1, state: 'CURRENT', key, publicKey: Buffer.from(JSON.stringify(publicJwk)), record: null }]
  })
  if (!current?.publicKey) throw new Error(`the key for ${purpose} is missing`)
  return { privateJwk: JSON.parse(current.key.toString()), publicJwk: JSON.parse(current.publicKey.toString()) }
}
