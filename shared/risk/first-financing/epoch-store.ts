import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { ValidationError } from '../../errors.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Registration } from './receivable.ts'
import type { RequestFingerprints } from './request-fingerprints.ts'

/** Days of two live epochs (docs/spec/evidence-families.md#blind-mode-and-epochs). */
const OVERLAP_DAYS = 30

export interface LiveEpoch {
  epoch: number
  state: 'CURRENT' | 'PREVIOUS'
  /** hex of 32 bytes, for the verification of proofs */
  publicKey: string
  /** the anchored object that announces the key, as JSON text */
  record: string
}

const LIVE_EPOCH_COLUMNS = columns<LiveEpoch>()(`epoch, state, encode(public_key, 'hex') AS publicKey, record`)

/** Newest first; empty before the registry was first used. */
export async function listLiveEpochs(db: Knex, env: ApiEnv): Promise<LiveEpoch[]> {
  return await query(
    db,
    typed`SELECT ${LIVE_EPOCH_COLUMNS} FROM domain_keys
     WHERE env = ? AND purpose = 'financing-oprf' AND public_key IS NOT NULL AND state <> 'RETIRED'
     ORDER BY epoch DESC`,
    [env],
  )
}

/** Fingerprints must be exactly those of the live epochs. @throws ValidationError */
export async function requireLiveEpochs(tx: Knex, env: ApiEnv, fingerprints: RequestFingerprints): Promise<void> {
  const live = (await listLiveEpochs(tx, env)).map(({ epoch }) => epoch)
  const stated = fingerprints.map(({ epoch }) => epoch)
  if (live.length === stated.length && live.every((epoch) => stated.includes(epoch))) return
  const message = `fingerprints must be of the epochs ${live.join(', ')} and of no others`
  throw new ValidationError(message, [{ path: 'fingerprints', code: 'EPOCHS', message }])
}

const NEWEST_EPOCH_COLUMNS = columns<{ epoch: number; isOverlapping: boolean }>()(`
  max(epoch) AS epoch, bool_or(state = 'PREVIOUS' AND public_key IS NOT NULL) AS isOverlapping`)

/** Returns also if the previous epoch is still live; undefined before the registry was first used. */
export async function newestEpoch(
  db: Knex,
  env: ApiEnv,
): Promise<{ epoch: number; isOverlapping: boolean } | undefined> {
  const [row] = await query(
    db,
    typed`SELECT ${NEWEST_EPOCH_COLUMNS}
     FROM domain_keys WHERE env = ? AND purpose = 'financing-oprf' HAVING max(epoch) IS NOT NULL`,
    [env],
  )
  return row
}

const EPOCHS_COLUMNS = columns<{ env: ApiEnv; epoch: number }>({ env: 'k.env', epoch: 'k.epoch' })

/** Retires epochs whose successor is old enough. */
export async function retireEpochs(tx: Knex.Transaction): Promise<{ env: ApiEnv; epoch: number }[]> {
  return await query(
    tx,
    typed`UPDATE domain_keys k SET state = 'RETIRED'
     WHERE k.purpose = 'financing-oprf' AND k.state = 'PREVIOUS' AND k.public_key IS NOT NULL
       AND EXISTS (SELECT 1 FROM domain_keys n WHERE n.env = k.env AND n.purpose = k.purpose AND n.epoch > k.epoch
         AND n.public_key IS NOT NULL AND n.created_at <= now() - make_interval(days => ${OVERLAP_DAYS}))
     RETURNING ${EPOCHS_COLUMNS}`,
  )
}

/** Drops fingerprints of records that have fingerprints in a newer epoch. */
export async function dropCovered(tx: Knex.Transaction, { env, epoch }: { env: ApiEnv; epoch: number }): Promise<void> {
  await execute(
    tx,
    `UPDATE financing_fingerprints f SET state = 'LAPSED'
     WHERE f.env = ? AND f.epoch = ? AND f.state IN ('REGISTERED', 'FINANCED')
       AND EXISTS (SELECT 1 FROM financing_fingerprints n WHERE n.record_id = f.record_id AND n.kind = 'RF1'
         AND n.epoch > f.epoch AND n.state = f.state)`,
    [env, epoch],
  )
}

const LEFT_BEHIND_COLUMNS = columns<Pick<Registration, 'id' | 'organisationId' | 'env' | 'dealId'>>()(`
  r.id, r.organisation_id, r.env, r.deal_id`)

/** Returns registrations with fingerprints in a retired epoch only, whose owners must be notified. */
export async function leftBehind(
  tx: Knex.Transaction,
  { env, epoch }: { env: ApiEnv; epoch: number },
): Promise<Pick<Registration, 'id' | 'organisationId' | 'env' | 'dealId'>[]> {
  return await query(
    tx,
    typed`SELECT ${LEFT_BEHIND_COLUMNS}
     FROM financing_fingerprints f JOIN financing_registrations r ON r.id = f.record_id
     WHERE f.env = ? AND f.epoch = ? AND f.kind = 'RF1' AND f.state IN ('REGISTERED', 'FINANCED')`,
    [env, epoch],
  )
}
