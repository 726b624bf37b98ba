import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { canonicalize } from '../../canonical/jcs.ts'
import type { ApiEnv } from '../../environment.ts'
import { ConflictError } from '../../errors.ts'
import { toMillis } from '../../time.ts'
import { recordEvent } from '../../webhooks/events/store.ts'
import { anchorRecord } from '../evidence/record-store.ts'
import type { FinancingKeys, Fingerprint } from '../first-financing/fingerprint.ts'
import type { Registration } from '../first-financing/receivable.ts'
import { setState, takeUnnamed } from '../first-financing/registration-store.ts'
import { allFingerprints } from '../first-financing/request-fingerprints.ts'
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
import {
  expiryAfter,
  type FinancingAction,
  type FinancingState,
  stateAfter,
  stateAt,
} from '../first-financing/states.ts'
import { recordFingerprints } from '../first-financing/store.ts'
import { decryptedReceivable } from '../first-financing/view.ts'
import { indianDay } from '../packs/money.ts'
import { instant, type OperationDeps } from './deps.ts'

export interface MoveDetails {
  /** `YYYY-MM-DD`; default today */
  financedOn?: string | undefined
}

/** Event types of the new states. A renewal does not change the state, so it has none. */
const EVENT_TYPES: Partial<Record<FinancingState, string>> = {
  FINANCED: 'first_financing.financed',
  RELEASED: 'first_financing.released',
  CANCELLED: 'first_financing.cancelled',
  LAPSED: 'first_financing.lapsed',
}

/** States of which the owner's endpoints are notified. */
const NOTIFIED: ReadonlySet<FinancingState> = new Set(['RELEASED', 'LAPSED'])

/** Finances, releases, cancels or renews a locked registration. @throws ConflictError for its state */
export async function moveRegistration(
  tx: Knex.Transaction,
  registration: Registration,
  action: Exclude<FinancingAction, 'transfer'>,
  details: MoveDetails,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<Registration> {
  const now = toMillis(deps.now())
  const state = stateAfter(registration, action, now)
  if (state === null) {
    const is = stateAt(registration, now)
    throw new ConflictError(`${action} is not possible: the registration is ${is}`, [
      { path: 'registrationId', code: is, message: `it is ${is}, renewed ${registration.renewals} times` },
    ])
  }
  const financedOn = action === 'finance' ? (details.financedOn ?? indianDay(now)) : registration.financedOn
  const expires = expiryAfter(
    { ...registration, expiresAt: registration.expiresAt.getTime() },
    action,
    now,
    financedOn ?? indianDay(now),
  )
  const renewals = registration.renewals + (action === 'renew' ? 1 : 0)
  return await setNewState(tx, { ...registration, renewals, financedOn, expiresAt: new Date(expires) }, state, deps)
}

/** Lapses a registration that is locked in this transaction. */
export async function lapseRegistration(
  tx: Knex.Transaction,
  registration: Registration,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<Registration> {
  return await setNewState(tx, registration, 'LAPSED', deps)
}

async function setNewState(
  tx: Knex.Transaction,
  registration: Registration,
  state: FinancingState,
  deps: Pick<OperationDeps, 'enqueue' | 'now'>,
): Promise<Registration> {
  const { id, env, organisationId, financedOn } = registration
  const eventType = state === registration.state ? undefined : EVENT_TYPES[state]
  const timestamp = instant(deps.now())
  let { record } = registration
  if (eventType !== undefined) {
    const facts = { registrationId: id, state, ...(state === 'FINANCED' ? { financedOn } : {}) }
    record = canonicalize(await anchorRecord(tx, env, eventType, timestamp, facts))
  }
  const moved = { ...registration, state, record }
  await setState(tx, id, moved)
  if (eventType !== undefined && NOTIFIED.has(state)) {
    const dealId = registration.dealId ?? id
    const fields = ['registrationId', 'state']
    await recordEvent(tx, deps.enqueue, { env, organisationId, type: eventType, dealId, fields, occurredAt: timestamp })
  }
  return moved
}

/** Registrations per transaction, with four fingerprints each. */
const PAGE = 100

export async function replaceFingerprints(
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

/**
 * Adds fingerprints of a new epoch to registrations by fields; owners add those of blind ones
 * (docs/spec/evidence-families.md#blind-mode-and-epochs). @returns the last one of this page; null after the last page
 */
export async function replaceFieldCommitments(
  tx: Knex.Transaction,
  env: ApiEnv,
  epoch: number,
  after: string | null,
  { keys, secrets }: { keys: FinancingKeys; secrets: OperationDeps['secrets'] },
): Promise<string | null> {
  const registrations = await takeUnnamed(tx, env, epoch, { after, limit: PAGE })
  for (const registration of registrations) {
    const fields = decryptedReceivable(registration, secrets)?.fields
    if (fields) await replaceFingerprints(tx, registration, allFingerprints(keys, fields))
  }
  return registrations.length === PAGE ? (registrations.at(-1)?.id ?? null) : null
}

const EVENT_TYPE = 'first_financing.snapshot'

/**
 * Anchors the root over the live registrations, at most hourly (docs/spec/evidence-families.md#absence-proofs).
 * @returns the newest snapshot; undefined while another process creates the first one
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
