import { randomBytes, randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { packRequested } from '../../contracts/worker-messages.ts'
import type { ApiEnv } from '../../environment.ts'
import { ForbiddenError, NotFoundError, validationError } from '../../errors.ts'
import type { JobContext } from '../../jobs/operations/jobs.ts'
import { awaitWork, startWork } from '../../jobs/operations/work.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { type Actor, auditedActor } from '../../tenancy/actor.ts'
import { Answer, jsonAnswer } from '../../tenancy/idempotency/answer.ts'
import type { StoredAnswer } from '../../tenancy/idempotency/store.ts'
import { isUuid } from '../../uuid.ts'
import { pairText } from '../acceptance/dilution.ts'
import { PackFailedError } from '../packs/pack-failed-error.ts'
import { SHARE_DAYS, shareDigestText } from '../packs/policy.ts'
import { isModeAllowed, type PackRequest, parsePackRequest } from '../packs/request.ts'
import { findPack, insertPack, type PackOutcome } from '../packs/store.ts'
import { insertShare, revokeShare } from '../risk-console/store.ts'

/** Part of the fingerprint of a request. */
export const PACK_REQUESTS = '/v1/po/risk-signals'
export const PACKS = `${PACK_REQUESTS}/packs`

/**
 * Job, idempotency key and message commit together. Requests of clients are metered, those of people are in the audit
 * log. With `replay`, the stored answer of an equal request, nothing is stored. @throws IdempotencyInProgressError,
 * IdempotencyKeyReusedError
 */
export async function requestPack(
  actor: Actor,
  { caller, deps, once, waitMs }: JobContext,
  requested: PackRequest,
  admit?: (tx: Knex.Transaction) => Promise<void>,
): Promise<{ packId: string; replay: StoredAnswer | undefined }> {
  const packId = randomUUID()
  const { organisationId, env } = caller
  const sealedRequest = deps.secrets.seal('pack-request', JSON.stringify(requested))
  const provisional = pendingPackAnswer(packId)
  const replay = await startWork(deps, { once, provisional, waitMs }, async ({ tx, writes, enqueue, replyTo }) => {
    await admit?.(tx)
    const idempotencyKey = once.scope.key
    const dealId = requested.dealId ?? null
    const pair = pairText({ supplierGstin: requested.borrowerGstin, buyerGstin: requested.buyerGstin })
    const { borrowerGstin } = requested
    const pack = { id: packId, organisationId, env, idempotencyKey, sealedRequest, dealId, borrowerGstin, pair }
    await insertPack(writes, pack)
    await insertActorAudit(writes, actor, { organisationId, action: 'pack.requested', target: packId })
    await enqueue(packRequested, replyTo === undefined ? { packId } : { packId, replyTo })
  })
  return { packId, replay }
}

/** `requestPack` has stored the pack. Returns 202 if it is not finished in time. @throws PackFailedError */
export async function awaitPack({ caller, deps, once, waitMs, signal }: JobContext, packId: string): Promise<Answer> {
  const outcome = await awaitWork(deps, { id: packId, once, waitMs, signal }, async (db) => {
    const found = await findPack(db, caller, packId)
    return found?.state === 'QUEUED' ? undefined : found
  })
  return outcome ? packAnswer(packId, outcome) : pendingPackAnswer(packId)
}

/** 200 with the stored bytes, or 202 while not finished. @throws PackFailedError */
export function packAnswer(packId: string, outcome: PackOutcome): Answer {
  if (outcome.state === 'FAILED') throw new PackFailedError()
  return outcome.body === null ? pendingPackAnswer(packId) : new Answer(200, outcome.body)
}

export function pendingPackAnswer(packId: string): Answer {
  const self = `${PACKS}/${packId}`
  const body = { packId, status: 'QUEUED', links: { self, evidence: `${self}/evidence` } }
  return jsonAnswer(202, body, { Location: self, 'Retry-After': '1' })
}

export function readPackRequest(body: unknown, { env }: { env: ApiEnv }): PackRequest {
  const parsed = parsePackRequest(body, { sandboxRegistrations: env === 'SANDBOX' })
  if (!parsed.ok) throw validationError(parsed.errors)
  if (!isModeAllowed(parsed.request.mode, env)) {
    throw new ForbiddenError(`mode ${parsed.request.mode} is not permitted with a ${env} token`)
  }
  return parsed.request
}

/** Only a digest of the returned token is stored. */
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

/** @throws NotFoundError when the pack does not have this live link */
export async function revokePackShare(
  db: Knex,
  actor: Actor,
  { organisationId, packId, shareId }: { organisationId: number; packId: string; shareId: string },
): Promise<void> {
  await transaction(db, async (tx) => {
    const isRevoked = isUuid(shareId) && (await revokeShare(tx, packId, shareId))
    if (!isRevoked) throw new NotFoundError('This link does not exist or is revoked already.')
    await insertActorAudit(tx, actor, { organisationId, action: 'pack.share-revoked', target: packId })
  })
}
