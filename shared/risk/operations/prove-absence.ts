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
import { snapshotRegistrations } from './registrations.ts'

/** That a receivable was not registered when a snapshot was taken; verifiable offline. */
export interface AbsenceProof {
  absenceProofId: string
  epoch: number
  /** hex */
  fingerprint: string
  left: Neighbour | null
  right: Neighbour | null
  /** the anchored object of the snapshot */
  snapshot: object
}

/** Trees that were built lately, by the id of their snapshot. */
export interface TreeCache {
  get(id: string): SnapshotTree | undefined
  set(id: string, tree: SnapshotTree): unknown
}

/**
 * Proves from a snapshot that a receivable was not registered: its neighbours in the sorted tree, and nothing of others.
 * One unit for a proof; what is registered is refused, and costs nothing.
 * @param fingerprints of the receivable: by its fields under the key of every epoch, blind under those of the live ones
 * @param snapshotId null is the newest
 */
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
  if (!snapshot) return { refusal: new NotFoundError('there is no such snapshot') }
  const sought = exact.find(({ epoch }) => epoch === snapshot.epoch)
  if (snapshot.keys === null) return conflict('snapshotId', 'FORGOTTEN', 'the snapshot is too old for a proof')
  if (!sought) return conflict('snapshotId', 'OTHER_EPOCH', 'the fingerprints are of other epochs than the snapshot')
  const tree = deps.trees.get(snapshot.id) ?? new SnapshotTree(snapshot.keys)
  deps.trees.set(snapshot.id, tree)
  const neighbours = tree.absenceOf(sought.value)
  if (!neighbours) return conflict('receivable', 'PRESENT', 'the receivable was registered when the snapshot was taken')
  const unseen = await elsewhere(tx, owner.env, exact, { isBlind, epoch: snapshot.epoch })
  if (unseen) return unseen
  await recordUsage(tx, { ...owner, family: 'first-financing', unitKey: `absence/${id}` })
  return {
    proof: {
      absenceProofId: id,
      epoch: snapshot.epoch,
      fingerprint: sought.value,
      ...neighbours,
      // Stored as we anchored it.
      snapshot: JSON.parse(snapshot.record),
    },
  }
}

/** A snapshot knows one epoch: what another one alone names would be called absent, and is registered. */
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

/** The one that was asked for; else the newest, which is taken now if there is none. */
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
