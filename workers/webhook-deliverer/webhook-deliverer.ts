import { deliveryDue } from '#shared/contracts/worker-messages.ts'
import { on, subscribe } from '#shared/platform/broker/worker.ts'
import { createHttpClient } from '#shared/platform/http/http-client.ts'
import { LEASE_MS } from '#shared/webhooks/claim-store.ts'
import type { Worker } from '../define-worker.ts'
import type { ClaimedAttempt } from './batch.ts'
import { createBatches, deliveryMetrics } from './batches.ts'
import { sendSigned } from './send.ts'

/** High, because an attempt mostly waits for its endpoint, and one that hangs must not block the others. */
const PREFETCH = 1000
/** High, because attempts are limited per endpoint (slots.ts), and endpoints of several tenants may share a host. */
const SOCKETS_PER_HOST = 2048
/** A message is handled for this time at most, well below the broker's limit of 30 minutes. */
const MESSAGE_MS = 5 * 60_000
/** Time for an attempt that begins just before the end of MESSAGE_MS. */
const LAST_ATTEMPT_MS = 60_000
const TIMEOUT_MS = 15_000

/**
 * Sends due deliveries. A message only names an endpoint; the database decides which delivery is sent. The transaction
 * that records an attempt also claims the next delivery of the endpoint.
 */
export const webhookDeliverer: Worker = {
  name: 'webhook-deliverer',
  sends: true,
  start(deps) {
    const http = createHttpClient({
      policy: { plainHttp: 'allowed-networks', allowPrivate: deps.config.allowPrivateTargets },
      userAgent: deps.config.siteName,
      timeoutMs: TIMEOUT_MS,
      maxSocketsPerHost: SOCKETS_PER_HOST,
    })
    const batches = createBatches(deps)
    const metrics = deliveryMetrics(deps.metrics.registry)
    let isStopping = false

    async function deliverTo(endpointId: string): Promise<void> {
      const until = performance.now() + MESSAGE_MS
      let delivery = await batches.run({ endpointId, ended: null, wantsNext: true })
      while (delivery) delivery = await attempt(delivery, until)
    }

    async function attempt(delivery: ClaimedAttempt, until: number): Promise<ClaimedAttempt | null> {
      deps.crashPoint('delivery-claimed')
      // A process that was suspended may have lost its lease; it skips an attempt that could end too late.
      if (performance.now() - delivery.claimedAtMs > LEASE_MS - TIMEOUT_MS) return null
      const sent = await sendSigned(http, deps.now, delivery, delivery)
      deps.crashPoint('delivery-sent')
      const { endpointId, n } = delivery
      const outcome = sent.outcome.result === 'delivered' ? 'delivered' : sent.outcome.failure
      const wantsNext = !isStopping && performance.now() < until
      const next = await batches.run({ endpointId, ended: { delivery, sent }, wantsNext })
      deps.crashPoint('delivery-recorded')
      metrics.attempts.inc({ outcome })
      deps.log.info(
        { deliveryId: delivery.id, attempt: n, outcome, status: sent.statusCode, durationMs: sent.durationMs },
        'delivery.attempted',
      )
      return next
    }

    const subscription = on(deliveryDue, PREFETCH, ({ endpointId }) => deliverTo(endpointId), {
      deadlineMs: MESSAGE_MS + LAST_ATTEMPT_MS,
    })
    return [
      http,
      subscribe('webhook-deliverer', subscription, deps),
      {
        async [Symbol.asyncDispose]() {
          isStopping = true
        },
      },
    ]
  },
}
