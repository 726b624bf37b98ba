import { anchorObject as anchorBlockOf, PACK_EVENT_TYPE } from '#shared/anchoring/leaf.ts'
import { anchorObject } from '#shared/anchoring/store.ts'
import { recordEvent } from '#shared/events/store.ts'
import { completeKey, releaseKey } from '#shared/idempotency/store.ts'
import { recordUsage } from '#shared/metering/store.ts'
import type { EvidenceRecord } from '#shared/packs/evidence.ts'
import type { PackBody } from '#shared/packs/pack-schema.ts'
import { failPack, finishPack, type PackJob } from '#shared/packs/store.ts'
import type { WorkerDeps } from '../define-worker.ts'

type StoreDeps = Pick<WorkerDeps, 'outbox' | 'crashPoint' | 'now'>

/**
 * Everything that a finished pack is, in one transaction: the pack with its anchor, its evidence, one log entry, one
 * metered unit, the event, and the answer to the request that asked for it. A copy of the message finds the pack
 * finished and leaves no trace.
 */
export async function storePack(
  deps: StoreDeps,
  job: PackJob,
  pack: PackBody,
  evidence: readonly EvidenceRecord[],
): Promise<void> {
  const { env, organisationId } = job
  const { anchor } = anchorBlockOf(pack, { eventType: PACK_EVENT_TYPE, timestamp: pack.generatedAt })
  const body = JSON.stringify({ ...pack, anchor })
  const { payloadSha256, txId } = anchor
  const finished = {
    id: job.id,
    body,
    signalLevel: pack.signalLevel,
    txId: Buffer.from(txId, 'hex'),
    evidence: JSON.stringify({ packId: job.id, generatedAt: pack.generatedAt, payloadSha256, txId, evidence }),
  }
  await deps.outbox.run(async (tx, enqueue) => {
    if (!(await finishPack(tx, finished))) return
    await anchorObject(tx, env, PACK_EVENT_TYPE, pack.generatedAt, pack)
    deps.crashPoint('pack-half-stored')
    await recordUsage(tx, { organisationId, env, family: 'risk-signals', unitKey: `pack/${job.id}` })
    await recordEvent(tx, enqueue, {
      env,
      organisationId,
      type: PACK_EVENT_TYPE,
      dealId: job.dealId ?? job.id,
      fields: ['packId', 'generatedAt', 'signalLevel', 'signals', 'gradedSignals', 'flags'],
      occurredAt: pack.generatedAt,
    })
    await completeKey(tx, { organisationId, env, key: job.idempotencyKey }, { status: 200, headers: {}, body })
  })
  deps.crashPoint('pack-stored')
}

/** Ends a pack that cannot be composed: the key is free again, and nothing is metered. */
export async function storeFailure(deps: StoreDeps, job: PackJob, code: string): Promise<void> {
  const { env, organisationId } = job
  await deps.outbox.run(async (tx, enqueue) => {
    if (!(await failPack(tx, job.id, code))) return
    await recordEvent(tx, enqueue, {
      env,
      organisationId,
      type: 'risk_signals.pack_failed',
      dealId: job.dealId ?? job.id,
      fields: ['packId'],
      occurredAt: new Date(deps.now() / 1000).toISOString(),
    })
    await releaseKey(tx, { organisationId, env, key: job.idempotencyKey })
  })
}
