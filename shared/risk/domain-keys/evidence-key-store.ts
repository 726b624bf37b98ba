import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { query } from '../../platform/database/sql.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { type EvidenceKey, type EvidenceSigner, evidenceKey } from '../../transparency/provenance/dsse.ts'
import { ensureDomainKeys, type NewDomainKey } from './store.ts'

const EVENT_TYPE = 'provenance.evidence_key'

/** Creates and anchors the key at the first call per installation and environment. */
export async function ensureEvidenceSigner(db: Knex, secrets: Secrets, env: ApiEnv): Promise<EvidenceSigner> {
  const [current] = await ensureDomainKeys(db, secrets, env, 'evidence-signing', async (tx) => [await newKey(tx, env)])
  if (!current?.publicKey) throw new Error('the evidence key is missing')
  return { seed: current.key, publicKey: current.publicKey }
}

async function newKey(tx: Knex.Transaction, env: ApiEnv): Promise<NewDomainKey> {
  const { x = '', d = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const publicKey = Buffer.from(x, 'base64url')
  const timestamp = new Date().toISOString()
  const object = { keyRecordId: randomUUID(), key: { ...evidenceKey(publicKey) }, eventType: EVENT_TYPE, timestamp }
  const anchor = await anchorObject(tx, env, EVENT_TYPE, timestamp, object)
  const record = canonicalize({ ...object, anchor })
  return { epoch: 1, state: 'CURRENT', key: Buffer.from(d, 'base64url'), publicKey, record }
}

export async function listEvidenceKeys(db: Knex, env: ApiEnv): Promise<EvidenceKey[]> {
  const rows = await query<{ publicKey: Buffer }>(
    db,
    `SELECT public_key AS "publicKey" FROM domain_keys
     WHERE env = ? AND purpose = 'evidence-signing' AND public_key IS NOT NULL ORDER BY epoch DESC`,
    [env],
  )
  return rows.map(({ publicKey }) => evidenceKey(publicKey))
}
