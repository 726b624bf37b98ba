import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { anchorRecord } from '../evidence/record-store.ts'
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
import { instant, type OperationDeps } from './deps.ts'

const EVENT_TYPE = 'first_financing.snapshot'

/**
 * Anchors the root over what is registered in an epoch, once an hour and only when something changed (docs/spec/evidence-families.md#absence-proofs), so
 * that absence at that time can be proven without showing anything else.
 * @returns the newest snapshot; undefined when another process has just seen to it and there is none yet
 */
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
