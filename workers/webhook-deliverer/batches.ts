import { setTimeout as sleep } from 'node:timers/promises'
import { UnavailableError } from '#shared/errors.ts'
import { isRetryable } from '#shared/platform/database/db.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { type ClaimedAttempt, runBatch, type Step } from './batch.ts'
import { deliveryMetrics } from './metrics.ts'
import { createSigningKeys } from './signing-keys.ts'

/** Gathers what slots want of the database: one transaction at a time does everything that came up meanwhile. */
export interface Batches {
  /** @returns the delivery the slot has taken in flight; null when its endpoint is owed nothing it may be sent now */
  run(step: Step): Promise<ClaimedAttempt | null>
}

interface Waiting {
  step: Step
  resolve(delivery: ClaimedAttempt | null): void
  reject(error: unknown): void
}

const BATCH_SIZE = 500
const RETRY_AFTER_MS = 500

export function createBatches(deps: WorkerDeps): Batches {
  const keysOf = createSigningKeys(deps.secrets)
  const metrics = deliveryMetrics(deps.metrics.registry)
  let waiting: Waiting[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    isRunning = true
    // The rest of this turn of the event loop may have more to add.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_SIZE)
      waiting = waiting.slice(BATCH_SIZE)
      await settle(batch)
    }
    isRunning = false
  }

  /** What the database cannot serve now waits in flight: an attempt that was made must be recorded. */
  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const { claimed, switchedOff } = await runBatch(
        deps,
        keysOf,
        batch.map(({ step }) => step),
      )
      for (const { endpointId, reason } of switchedOff) {
        metrics.switchedOff.inc({ reason })
        deps.log.warn({ endpointId, reason }, 'webhook.endpoint-switched-off')
      }
      hand(batch, claimed)
    } catch (error) {
      if (error instanceof UnavailableError || isRetryable(error)) {
        deps.log.warn(describeError(error), 'webhook.batch-postponed')
        await sleep(RETRY_AFTER_MS)
        waiting = [...batch, ...waiting]
      } else if (batch.length > 1) {
        // One of them cannot be recorded: it must not take its neighbours along.
        for (const one of batch) await settle([one])
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }

  return {
    run: (step) =>
      new Promise((resolve, reject) => {
        waiting.push({ step, resolve, reject })
        if (isRunning) return
        runAll().catch((error: unknown) => deps.log.error(describeError(error), 'webhook.batches-failed'))
      }),
  }
}

/** Gives each slot one of its endpoint's deliveries, as far as they go. */
function hand(batch: readonly Waiting[], claimed: readonly ClaimedAttempt[]): void {
  const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
  for (const { step, resolve } of batch) {
    resolve(step.wantsNext ? (byEndpoint.get(step.endpointId)?.shift() ?? null) : null)
  }
}
