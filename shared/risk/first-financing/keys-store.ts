import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { derivedKey, ensureDomainKeys, ensureKey, type NewDomainKey } from '../domain-keys/store.ts'
import type { FinancingKeys } from './fingerprint.ts'
import { newOprfKey, oprfReady } from './oprf.ts'

const EPOCH_EVENT_TYPE = 'first_financing.epoch'

/** The keys of the first-financing registry of one environment. */
export async function ensureFinancingKeys(db: Knex, secrets: Secrets, env: ApiEnv): Promise<FinancingKeys> {
  await oprfReady()
  const epochs = await ensureDomainKeys(db, secrets, env, 'financing-oprf', async (tx) => [
    derivedKey(secrets, 'financing-oprf', 'PREVIOUS'),
    await firstOprfKey(tx, env),
  ])
  return { order: await ensureKey(db, secrets, env, 'financing-po'), epochs }
}

/** Epoch 2: the first that can be asked blindly. Its public key is anchored, so nobody can be shown another one. */
async function firstOprfKey(tx: Knex.Transaction, env: ApiEnv): Promise<NewDomainKey> {
  const { privateKey, publicKey } = newOprfKey()
  const timestamp = new Date().toISOString()
  const object = {
    epochRecordId: randomUUID(),
    epoch: 2,
    suite: 'ristretto255-SHA512',
    publicKey: publicKey.toString('hex'),
    eventType: EPOCH_EVENT_TYPE,
    timestamp,
  }
  const anchor = await anchorObject(tx, env, EPOCH_EVENT_TYPE, timestamp, object)
  return { epoch: 2, state: 'CURRENT', key: privateKey, publicKey, record: canonicalize({ ...object, anchor }) }
}
