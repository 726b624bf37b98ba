import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { anchorObject } from '../../transparency/anchoring/store.ts'
import { derivedKey, ensureDomainKeys, ensureKey, type NewDomainKey, replaceDomainKey } from '../domain-keys/store.ts'
import { newestEpoch } from './epoch-store.ts'
import type { FinancingKeys } from './fingerprint.ts'
import { newOprfKey, oprfReady } from './oprf.ts'

const EPOCH_EVENT_TYPE = 'first_financing.epoch'

export async function ensureFinancingKeys(db: Knex, secrets: Secrets, env: ApiEnv): Promise<FinancingKeys> {
  await oprfReady()
  const epochs = await ensureDomainKeys(db, secrets, env, 'financing-oprf', async (tx) => [
    derivedKey(secrets, 'financing-oprf', 'PREVIOUS'),
    await oprfKeyOf(tx, env, FIRST_BLIND_EPOCH),
  ])
  return { order: await ensureKey(db, secrets, env, 'financing-po'), epochs }
}

const FIRST_BLIND_EPOCH = 2

/** Returns undefined while two epochs are live, or before the first use. */
export async function beginEpoch(db: Knex, secrets: Secrets, env: ApiEnv): Promise<number | undefined> {
  await oprfReady()
  return await replaceDomainKey(db, secrets, env, 'financing-oprf', async (tx) => {
    const newest = await newestEpoch(tx, env)
    return newest === undefined || newest.isOverlapping ? undefined : await oprfKeyOf(tx, env, newest.epoch + 1)
  })
}

/** The public key is anchored, so that no caller can be shown another one. */
async function oprfKeyOf(tx: Knex.Transaction, env: ApiEnv, epoch: number): Promise<NewDomainKey> {
  const { privateKey, publicKey } = newOprfKey()
  const timestamp = new Date().toISOString()
  const object = {
    epochRecordId: randomUUID(),
    epoch,
    suite: 'ristretto255-SHA512',
    publicKey: publicKey.toString('hex'),
    eventType: EPOCH_EVENT_TYPE,
    timestamp,
  }
  const anchor = await anchorObject(tx, env, EPOCH_EVENT_TYPE, timestamp, object)
  return { epoch, state: 'CURRENT', key: privateKey, publicKey, record: canonicalize({ ...object, anchor }) }
}
