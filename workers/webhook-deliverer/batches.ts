import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import { UnavailableError } from '#shared/errors.ts'
import { isRetryable } from '#shared/platform/database/db.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { type ClaimedAttempt, runBatch, type Step } from './batch.ts'
import { createSigningKeys } from './send.ts'

/** Gathers what slots want of the database: one transaction at a time does everything that came up meanwhile. */
export interface Batches {
  /** @returns the delivery the slot has taken in flight; null when its endpoint is owed nothing it may be sent now */
  run(step: Step): Promise<ClaimedAttempt | null>
}

const BATCH_SIZE = 500
const RETRY_AFTER_MS = 500

export function createBatches(deps: WorkerDeps): Batches {
  const keysOf = createSigningKeys(deps.secrets)
  const metrics = deliveryMetrics(deps.metrics.registry)

  /** What the database cannot serve now waits in flight: an attempt that was made must be recorded. */
  async function runSteps(steps: readonly Step[]): Promise<(ClaimedAttempt | null)[]> {
    for (;;) {
      try {
        const { claimed, switchedOff } = await runBatch(deps, keysOf, steps)
        for (const { endpointId, reason } of switchedOff) {
          metrics.switchedOff.inc({ reason })
          deps.log.warn({ endpointId, reason }, 'webhook.endpoint-disabled')
        }
        return hand(steps, claimed)
      } catch (error) {
        if (!(error instanceof UnavailableError || isRetryable(error))) throw error
        deps.log.warn(describeError(error), 'webhook.batch-postponed')
        await sleep(RETRY_AFTER_MS)
      }
    }
  }

  // The rest of this turn of the event loop may have more to add; one that cannot be recorded takes no neighbours along.
  return { run: batched(runSteps, { largest: BATCH_SIZE, start: setImmediate, isolate: true }) }
}

/** Gives each slot one of its endpoint's deliveries, as far as they go. */
function hand(steps: readonly Step[], claimed: readonly ClaimedAttempt[]): (ClaimedAttempt | null)[] {
  const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
  return steps.map(({ endpointId, wantsNext }) => (wantsNext ? (byEndpoint.get(endpointId)?.shift() ?? null) : null))
}

/** What an operator watches of deliveries. No label names a tenant or an address. */
export interface DeliveryMetrics {
  attempts: Counter<'outcome'>
  switchedOff: Counter<'reason'>
  due: Gauge
  oldest: Gauge
}

const made = new WeakMap<Registry, DeliveryMetrics>()

/** The metrics of a process, made once: the deliverer and the sweeper may share it. */
export function deliveryMetrics(registry: Registry): DeliveryMetrics {
  const known = made.get(registry)
  if (known) return known
  const metrics: DeliveryMetrics = {
    attempts: new Counter({
      name: 'signalbox_webhook_attempts_total',
      help: 'Attempts to deliver an event, by outcome: delivered, or the class of the failure.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    switchedOff: new Counter({
      name: 'signalbox_webhook_endpoints_disabled_total',
      help: 'Endpoints that the service switched off.',
      labelNames: ['reason'],
      registers: [registry],
    }),
    due: new Gauge({
      name: 'signalbox_webhook_deliveries_due',
      help: 'Deliveries whose attempt is due.',
      registers: [registry],
    }),
    oldest: new Gauge({
      name: 'signalbox_webhook_oldest_due_seconds',
      help: 'Time for which the oldest delivery that is due has been waiting.',
      registers: [registry],
    }),
  }
  made.set(registry, metrics)
  return metrics
}
