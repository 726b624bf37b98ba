import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, type Registry } from 'prom-client'
import { UnavailableError } from '#shared/errors.ts'
import { isRetryable } from '#shared/platform/database/db.ts'
import { batched } from '#shared/platform/process/batch.ts'
import { describeError } from '#shared/platform/process/log.ts'
import type { WorkerDeps } from '../define-worker.ts'
import { type ClaimedAttempt, runBatch, type Step } from './batch.ts'
import { createSigningKeys } from './send.ts'

/** One transaction at a time processes all steps that arrived during the previous one. */
export interface Batches {
  /** Resolves to null if no delivery of the endpoint is due, or none may be sent now. */
  run(step: Step): Promise<ClaimedAttempt | null>
}

const BATCH_SIZE = 500
const RETRY_AFTER_MS = 500

export function createBatches(deps: WorkerDeps): Batches {
  const keysOf = createSigningKeys(deps.secrets)
  const metrics = deliveryMetrics(deps.metrics.registry)

  /** Retries while the database is unavailable, because a sent attempt must be recorded. */
  async function runSteps(steps: readonly Step[]): Promise<(ClaimedAttempt | null)[]> {
    for (;;) {
      try {
        const { claimed, switchedOff } = await runBatch(deps, keysOf, steps)
        for (const { endpointId, reason } of switchedOff) {
          metrics.switchedOff.inc({ reason })
          deps.log.warn({ endpointId, reason }, 'webhook.endpoint-disabled')
        }
        return assignClaimed(steps, claimed)
      } catch (error) {
        if (!(error instanceof UnavailableError || isRetryable(error))) throw error
        deps.log.warn(describeError(error), 'webhook.batch-postponed')
        await sleep(RETRY_AFTER_MS)
      }
    }
  }

  // setImmediate lets the current event loop iteration add steps; `isolate` keeps one failing step from failing the
  // others.
  return { run: batched(runSteps, { largest: BATCH_SIZE, start: setImmediate, isolate: true }) }
}

function assignClaimed(steps: readonly Step[], claimed: readonly ClaimedAttempt[]): (ClaimedAttempt | null)[] {
  const byEndpoint = Map.groupBy(claimed, ({ endpointId }) => endpointId)
  return steps.map(({ endpointId, wantsNext }) => (wantsNext ? (byEndpoint.get(endpointId)?.shift() ?? null) : null))
}

/** No label names a tenant or an address. */
export interface DeliveryMetrics {
  attempts: Counter<'outcome'>
  switchedOff: Counter<'reason'>
  due: Gauge
  oldest: Gauge
}

const metricsByRegistry = new WeakMap<Registry, DeliveryMetrics>()

/** Created once per process, because the deliverer and the sweeper may share it. */
export function deliveryMetrics(registry: Registry): DeliveryMetrics {
  const known = metricsByRegistry.get(registry)
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
  metricsByRegistry.set(registry, metrics)
  return metrics
}
