import type { Knex } from 'knex'
import { ConflictError, NotFoundError } from '../../errors.ts'
import type { FieldCode } from '../../field-codes.ts'
import type { Owner } from '../../jobs/job.ts'
import type { Fingerprint } from '../first-financing/fingerprint.ts'
import { findLatestSnapshot, findSnapshot, type Snapshot } from '../first-financing/snapshot-store.ts'
import { type Neighbour, SnapshotTree } from '../first-financing/snapshot-tree.ts'
import { findHolder, isAnyUncovered } from '../first-financing/store.ts'
import { recordUsage } from '../metering/store.ts'
import type { OperationDeps } from './deps.ts'
import { snapshotRegistrations } from './registration-epochs.ts'

/** Can be verified offline. */
export interface AbsenceProof {
  absenceProofId: string
  epoch: number
  /** hex */
  fingerprint: string
  left: Neighbour | null
  right: Neighbour | null
  snapshot: object
}

export interface TreeCache {
  get(id: string): SnapshotTree | undefined
  set(id: string, tree: SnapshotTree): unknown
}

/** A proof is one unit; a refusal costs nothing. Fingerprints are under the keys of every epoch. */
export async function proveAbsence(
  tx: Knex.Transaction,
  owner: Owner,
  id: string,
  {
    fingerprints,
    snapshotId,
    isBlind,
  }: { fingerprints: readonly Fingerprint[]; snapshotId: string | null; isBlind: boolean },
  deps: Pick<OperationDeps, 'now'> & { trees: TreeCache },
): Promise<{ proof: AbsenceProof } | { refusal: NotFoundError | ConflictError }> {
  const exact = fingerprints.filter(({ kind }) => kind === 'RF1')
  const snapshot = await snapshotOf(tx, owner, snapshotId, exact, deps)
  if (!snapshot) return { refusal: new NotFoundError('snapshot not found') }
  const fingerprint = exact.find(({ epoch }) => epoch === snapshot.epoch)
  if (snapshot.keys === null) return conflict('snapshotId', 'FORGOTTEN', 'the snapshot is too old for a proof')
  if (!fingerprint)
    return conflict('snapshotId', 'OTHER_EPOCH', 'the fingerprints are of other epochs than the snapshot')
  const tree = deps.trees.get(snapshot.id) ?? new SnapshotTree(snapshot.keys)
  deps.trees.set(snapshot.id, tree)
  const neighbours = tree.absenceOf(fingerprint.value)
  if (!neighbours) return conflict('receivable', 'PRESENT', 'the receivable was registered when the snapshot was taken')
  const unseen = await elsewhere(tx, owner.env, exact, { isBlind, epoch: snapshot.epoch })
  if (unseen) return unseen
  await recordUsage(tx, { ...owner, family: 'first-financing', unitKey: `absence/${id}` })
  return {
    proof: {
      absenceProofId: id,
      epoch: snapshot.epoch,
      fingerprint: fingerprint.value,
      ...neighbours,
      snapshot: JSON.parse(snapshot.record),
    },
  }
}

/** A snapshot covers only its own epoch. */
async function elsewhere(
  tx: Knex.Transaction,
  env: Owner['env'],
  exact: readonly Fingerprint[],
  { isBlind, epoch }: { isBlind: boolean; epoch: number },
) {
  const others = exact.filter((fingerprint) => fingerprint.epoch !== epoch)
  if (await findHolder(tx, env, others))
    return conflict('receivable', 'PRESENT', 'the receivable is registered under another epoch')
  const epochs = exact.map((fingerprint) => fingerprint.epoch)
  if (isBlind && (await isAnyUncovered(tx, env, epochs)))
    return conflict('fingerprints', 'UNRESOLVED', 'a registration exists that these epochs do not cover')
  return undefined
}

/** The newest snapshot is created if none exists. */
async function snapshotOf(
  tx: Knex.Transaction,
  { env }: Owner,
  id: string | null,
  exact: readonly Fingerprint[],
  deps: Pick<OperationDeps, 'now'>,
): Promise<Snapshot | undefined> {
  if (id !== null) return await findSnapshot(tx, env, id)
  const epoch = Math.max(...exact.map((fingerprint) => fingerprint.epoch))
  return (await findLatestSnapshot(tx, env, epoch)) ?? (await snapshotRegistrations(tx, env, epoch, deps))
}

function conflict(path: string, code: FieldCode, message: string) {
  return { refusal: new ConflictError(message, [{ path, code, message }]) }
}
