import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { FinancingKeys, Fingerprint } from '../first-financing/fingerprint.ts'
import { allFingerprints } from '../first-financing/fingerprints-of-request.ts'
import type { Registration } from '../first-financing/receivable.ts'
import { lockWithoutFingerprints } from '../first-financing/registration-store.ts'
import {
  findLatestSnapshot,
  forgetOldKeys,
  insertSnapshot,
  liveFingerprints,
  type Snapshot,
  takeSnapshot,
  touchSnapshot,
} from '../first-financing/snapshot-store.ts'
import { SnapshotTree, snapshotKeys } from '../first-financing/snapshot-tree.ts'
import { recordFingerprints } from '../first-financing/store.ts'
import { decryptedReceivable } from '../first-financing/view.ts'
import { instant, type OperationDeps } from './deps.ts'

/** Each registration has four fingerprints. */
const PAGE = 100

export async function addFingerprints(
  tx: Knex.Transaction,
  { organisationId, env, id, state, firstSeenAt }: Registration,
  fingerprints: readonly Fingerprint[],
): Promise<void> {
  if (state !== 'REGISTERED' && state !== 'FINANCED') return
  await recordFingerprints(
    tx,
    { organisationId, env, recordId: id, fingerprints },
    { state, expiresAt: null, firstSeenAt },
  )
}

/** By fields only (docs/spec/evidence-families.md#blind-mode-and-epochs). Null after the last page. */
export async function replaceFieldCommitments(
  tx: Knex.Transaction,
  env: ApiEnv,
  epoch: number,
  after: string | null,
  { keys, secrets }: { keys: FinancingKeys; secrets: OperationDeps['secrets'] },
): Promise<string | null> {
  const registrations = await lockWithoutFingerprints(tx, env, epoch, { after, limit: PAGE })
  for (const registration of registrations) {
    const fields = decryptedReceivable(registration, secrets)?.fields
    if (fields) await addFingerprints(tx, registration, allFingerprints(keys, fields))
  }
  return registrations.length === PAGE ? (registrations.at(-1)?.id ?? null) : null
}

const EVENT_TYPE = 'first_financing.snapshot'

/** At most hourly (docs/spec/evidence-families.md#absence-proofs). Undefined during another's first. */
export async function snapshotRegistrations(
  tx: Knex.Transaction,
  env: ApiEnv,
  epoch: number,
  deps: Pick<OperationDeps, 'now'>,
): Promise<Snapshot | undefined> {
  const isDue = await takeSnapshot(tx, env, epoch)
  const latest = await findLatestSnapshot(tx, env, epoch)
  if (!isDue) return latest
  await forgetOldKeys(tx)
  const fingerprints = await liveFingerprints(tx, env, epoch)
  const content = hash('sha256', fingerprints.join(), 'buffer')
  if (latest?.content.equals(content)) {
    await touchSnapshot(tx, latest.id)
    return latest
  }
  const keys = snapshotKeys(fingerprints, randomBytes)
  const { size, root } = new SnapshotTree(keys)
  const facts = { snapshotId: randomUUID(), epoch, size, root }
  const record = canonicalize(await anchorRecord(tx, env, EVENT_TYPE, instant(deps.now()), facts))
  const snapshot: Snapshot = { id: facts.snapshotId, env, epoch, size, content, keys, record }
  await insertSnapshot(tx, snapshot)
  return snapshot
}
