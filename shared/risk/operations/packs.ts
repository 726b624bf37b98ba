import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { packRequested } from '../../contracts/worker-messages.ts'
import type { ApiEnv } from '../../environment.ts'
import { NotFoundError } from '../../errors.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import {
  findReplay,
  type IdempotentRequest,
  type KeyScope,
  leaseKey,
  type StoredAnswer,
  settleKey,
  storeAnswer,
} from '../../tenancy/idempotency/store.ts'
import { isUuid } from '../../uuid.ts'
import { pairText } from '../acceptance/dilution.ts'
import { SHARE_DAYS, shareDigestText } from '../packs/policy.ts'
import type { PackRequest } from '../packs/request.ts'
import { findPack, insertPack, type PackOutcome } from '../packs/store.ts'
import { insertShare, revokeShare } from '../risk-console/store.ts'

/** A pack to be composed. */
export interface PackJobRequest extends IdempotentRequest {
  packId: string
  owner: { organisationId: number; env: ApiEnv }
  requested: PackRequest
  /** what an equal request is told until the pack is finished */
  provisional: StoredAnswer
  /** what else must hold for a new job, in its transaction; a replay needs nothing */
  admit?: (tx: Knex.Transaction) => Promise<void>
  /** queue that the composer answers to, when somebody waits; null when nobody does */
  replyTo: string | null
}

/**
 * Asks for a pack: job, idempotency key and message commit together. What a client asks for is metered; what a person
 * asks for is in the audit log.
 * @returns the stored answer of an equal request before; undefined when the job is stored now
 * @throws IdempotencyInProgressError, IdempotencyKeyReusedError
 */
export async function requestPack(
  actor: Actor,
  { packId, owner, scope, fingerprint, requested, provisional, admit, replyTo }: PackJobRequest,
  { outbox, secrets }: { outbox: Pick<Outbox, 'run'>; secrets: Secrets },
): Promise<StoredAnswer | undefined> {
  const { organisationId, env } = owner
  const sealedRequest = secrets.seal('pack-request', JSON.stringify(requested))
  return await outbox.run(async (tx, enqueue) => {
    const replay = await findReplay(tx, { scope, fingerprint })
    if (replay) return replay
    await admit?.(tx)
    const dealId = requested.dealId ?? null
    const pair = pairText({ supplierGstin: requested.borrowerGstin, buyerGstin: requested.buyerGstin })
    await insertPack(tx, { id: packId, organisationId, env, idempotencyKey: scope.key, sealedRequest, dealId, pair })
    if (replyTo === null) await storeAnswer(tx, scope, fingerprint, provisional)
    else await leaseKey(tx, scope, fingerprint, provisional)
    await insertActorAudit(tx, actor, { organisationId, action: 'pack.requested', target: packId })
    await enqueue(packRequested, replyTo === null ? { packId } : { packId, replyTo })
    return undefined
  })
}

/** How often we look ourselves, should the composer's reply be lost. */
const POLL_EVERY_MS = 1_000

/**
 * Waits for the composer of a pack, which also stores it as the answer under the key. At the deadline the provisional
 * answer becomes the answer, unless the composer was faster: only one of them can be, so a repetition gets the same.
 * @param wait resolves at the composer's reply or after the time
 * @returns null when the pack is not finished
 */
export async function awaitPack(
  db: Knex,
  { packId, owner, scope }: { packId: string; owner: { organisationId: number; env: ApiEnv }; scope: KeyScope },
  waitMs: number,
  wait: (packId: string, timeoutMs: number) => Promise<unknown>,
): Promise<PackOutcome | null> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const left = deadline - performance.now()
    await wait(packId, Math.max(0, Math.min(left, POLL_EVERY_MS)))
    const outcome = await findPack(db, owner, packId)
    if (outcome && outcome.state !== 'QUEUED') return outcome
    if (performance.now() < deadline) continue
    if (await settleKey(db, scope)) return null
    return (await findPack(db, owner, packId)) ?? null
  }
}

/**
 * Makes a link through which anybody sees a finished pack of the organisation.
 * @returns its token, of which only a digest is kept
 */
export async function sharePack(
  db: Knex,
  actor: Actor,
  { organisationId, packId }: { organisationId: number; packId: string },
  { secrets }: { secrets: Pick<Secrets, 'digest'> },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const digest = secrets.digest(shareDigestText(token))
  const { actor: createdBy } = auditedActor(actor)
  await transaction(db, async (tx) => {
    await insertShare(tx, { id: randomUUID(), packId, digest, createdBy, days: SHARE_DAYS })
    await insertActorAudit(tx, actor, { organisationId, action: 'pack.shared', target: packId })
  })
  return token
}

/** Ends a link to a pack of the organisation for good. @throws NotFoundError when the pack has no such live link */
export async function revokePackShare(
  db: Knex,
  actor: Actor,
  { organisationId, packId, shareId }: { organisationId: number; packId: string; shareId: string },
): Promise<void> {
  await transaction(db, async (tx) => {
    const isRevoked = isUuid(shareId) && (await revokeShare(tx, packId, shareId))
    if (!isRevoked) throw new NotFoundError('There is no such link.')
    await insertActorAudit(tx, actor, { organisationId, action: 'pack.share-revoked', target: packId })
  })
}
