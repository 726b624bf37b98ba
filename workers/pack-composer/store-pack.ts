import { randomUUID } from 'node:crypto'
import { UnavailableError } from '#shared/errors.ts'
import { isRetryable } from '#shared/platform/database/db.ts'
import { batched } from '#shared/platform/process/batch.ts'
import type { EvidenceRecord } from '#shared/risk/packs/evidence.ts'
import { type FinishedPack, finishPacks } from '#shared/risk/packs/finish-store.ts'
import type { PackBody } from '#shared/risk/packs/pack-schema.ts'
import { failPack, type PackJob } from '#shared/risk/packs/store.ts'
import { releaseKey } from '#shared/tenancy/idempotency/store.ts'
import { toIsoMillis } from '#shared/time.ts'
import { anchorObject, PACK_EVENT_TYPE } from '#shared/transparency/anchoring/leaf.ts'
import { anchorEvent, type DomainEvent } from '#shared/webhooks/events/event.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import { scheduleDeliveries } from '#shared/webhooks/fan-out-store.ts'
import type { WorkerDeps } from '../define-worker.ts'

type StoreDeps = Pick<WorkerDeps, 'outbox' | 'crashPoint' | 'now'>

export interface ComposedPack {
  job: PackJob
  pack: PackBody
  evidence: readonly EvidenceRecord[]
}

interface PackToStore {
  finished: FinishedPack
  event: DomainEvent
}

/** Limits a transaction to a few hundred kilobytes. */
const STORE_BATCH = 32

/** Stores packs in batches: packs that are composed during a transaction share the next one. */
export function createPackStore(deps: StoreDeps): (composed: ComposedPack) => Promise<void> {
  const store = batched((packs: readonly PackToStore[]) => storeBatch(deps, packs), { largest: STORE_BATCH })
  return async (composed) => {
    const outcome = await store(toStore(composed))
    if (outcome !== STORED) throw outcome.error
    deps.crashPoint('pack-stored')
  }
}

function toStore({ job, pack, evidence }: ComposedPack): PackToStore {
  const occurredAt = pack.generatedAt
  const { anchor, entry } = anchorObject(pack, { eventType: PACK_EVENT_TYPE, timestamp: occurredAt })
  const { payloadSha256, txId } = anchor
  const event: DomainEvent = {
    env: job.env,
    organisationId: job.organisationId,
    type: PACK_EVENT_TYPE,
    dealId: job.dealId ?? job.id,
    fields: ['packId', 'generatedAt', 'signalLevel', 'signals', 'gradedSignals', 'flags'],
    occurredAt,
  }
  const { payload, ...anchored } = anchorEvent(randomUUID(), event)
  const finished: FinishedPack = {
    id: job.id,
    body: JSON.stringify({ ...pack, anchor }),
    signalLevel: pack.signalLevel,
    txId,
    entry,
    evidence: JSON.stringify({ packId: job.id, generatedAt: pack.generatedAt, payloadSha256, txId, evidence }),
    event: { ...anchored, type: event.type, dealId: event.dealId, occurredAt, txId: payload.anchor.txId },
  }
  return { finished, event }
}

const STORED = 'stored' as const
type Outcome = typeof STORED | { error: unknown }

async function storeBatch(deps: StoreDeps, packs: readonly PackToStore[]): Promise<Outcome[]> {
  try {
    await storeTogether(deps, packs)
    return packs.map(() => STORED)
  } catch (error) {
    if (packs.length === 1 || error instanceof UnavailableError || isRetryable(error)) throw error
    // Retry each pack alone, so that one bad pack does not fail the others.
    return await Promise.all(
      packs.map((pack) =>
        storeTogether(deps, [pack]).then(
          () => STORED,
          (fault: unknown) => ({ error: fault }),
        ),
      ),
    )
  }
}

async function storeTogether(deps: StoreDeps, packs: readonly PackToStore[]): Promise<void> {
  await deps.outbox.run(async (tx, enqueue) => {
    const stored = await finishPacks(
      tx,
      packs.map(({ finished }) => finished),
    )
    deps.crashPoint('pack-half-stored')
    for (const { id, hasEndpoints } of stored) {
      if (!hasEndpoints) continue
      const pack = packs.find(({ finished }) => finished.id === id)
      if (pack) await scheduleDeliveries(tx, enqueue, { ...pack.event, id: pack.finished.event.id })
    }
  })
}

/** Marks a pack as failed, emits its event and releases its idempotency key. A failed pack is not metered. */
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
      occurredAt: toIsoMillis(deps.now()),
    })
    await releaseKey(tx, { organisationId, env, key: job.idempotencyKey })
  })
}
