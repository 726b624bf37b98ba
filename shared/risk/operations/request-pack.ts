import type { Knex } from 'knex'
import { packRequested } from '../../contracts/pack-requested.ts'
import type { ApiEnv } from '../../environment.ts'
import type { Outbox } from '../../platform/broker/outbox.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import {
  findReplay,
  type IdempotentRequest,
  leaseKey,
  type StoredAnswer,
  storeAnswer,
} from '../../tenancy/idempotency/store.ts'
import { pairText } from '../acceptance/dilution-request.ts'
import type { PackRequest } from '../packs/request.ts'
import { insertPack } from '../packs/store.ts'

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
