import { UnavailableError } from '#shared/errors.ts'
import { isRetryable } from '#shared/platform/db.ts'
import { describeError } from '#shared/platform/log.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { deliveryMetrics } from './metrics.ts'
import { createSigningKeys } from './signing-keys.ts'
import { type DeliveryInHand, type Errand, runTurn } from './turn.ts'

/** Gathers what lanes want of the database: one transaction at a time does everything that came up meanwhile. */
export interface Turns {
  /** @returns the delivery the lane has taken in hand; null when its endpoint is owed nothing it may be sent now */
  run(errand: Errand): Promise<DeliveryInHand | null>
}

interface Waiting {
  errand: Errand
  resolve(delivery: DeliveryInHand | null): void
  reject(error: unknown): void
}

const MOST_AT_ONCE = 500
const RETRY_AFTER_MS = 500

export function createTurns(deps: WorkerDeps): Turns {
  const keysOf = createSigningKeys(deps.secrets)
  const metrics = deliveryMetrics(deps.metrics.registry)
  let waiting: Waiting[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    isRunning = true
    // The rest of this turn of the event loop may have more to add.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_AT_ONCE)
      waiting = waiting.slice(MOST_AT_ONCE)
      await settle(batch)
    }
    isRunning = false
  }

  /** What the database cannot serve now waits in hand: an attempt that was made must be recorded. */
  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const { claimed, switchedOff } = await runTurn(
        deps,
        keysOf,
        batch.map(({ errand }) => errand),
      )
      for (const { endpointId, reason } of switchedOff) {
        metrics.switchedOff.inc({ reason })
        deps.log.warn({ endpointId, reason }, 'webhook.endpoint-switched-off')
      }
      hand(batch, claimed)
    } catch (error) {
      if (error instanceof UnavailableError || isRetryable(error)) {
        deps.log.warn(describeError(error), 'webhook.turn-postponed')
        await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS))
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
    run: (errand) =>
      new Promise((resolve, reject) => {
        waiting.push({ errand, resolve, reject })
        if (isRunning) return
        runAll().catch((error: unknown) => deps.log.error(describeError(error), 'webhook.turns-failed'))
      }),
  }
}

/** Gives each lane one of its endpoint's deliveries, as far as they go. */
function hand(batch: readonly Waiting[], claimed: readonly DeliveryInHand[]): void {
  const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
  for (const { errand, resolve } of batch) {
    resolve(errand.wantsNext ? (byEndpoint.get(errand.endpointId)?.shift() ?? null) : null)
  }
}
