import { deliveryDue } from '#shared/contracts/delivery-due.ts'
import { createHttpClient } from '#shared/platform/http-client.ts'
import { on, subscribe } from '#shared/platform/worker.ts'
import { LEASE_MS } from '#shared/webhooks/turn-store.ts'
import type { Worker } from '../define-worker.ts'
import { deliveryMetrics } from './metrics.ts'
import { sendSigned } from './send.ts'
import type { DeliveryInHand } from './turn.ts'
import { createTurns } from './turns.ts'

/** An attempt mostly waits for its endpoint: very many are under way, so that those that hang leave room for the rest. */
const AT_ONCE = 1000
/** Endpoints are kept apart by their lanes; tenants of one host must not wait for each other's sockets. */
const SOCKETS_PER_HOST = 2048
/**
 * For how long one message may keep a lane going: the broker takes a message that is not acknowledged within half an
 * hour for lost. The sweeper starts the lane anew.
 */
const LANE_MS = 5 * 60_000
/** For the whole request. */
const TIMEOUT_MS = 15_000

/**
 * Sends events to webhook endpoints. A message says that an endpoint is owed a delivery; which one, and whether it may be
 * sent now, its rows say. Whoever ends an attempt takes the endpoint's next delivery in the same transaction, so a
 * backlog goes on without further messages, at most four at once.
 */
export const webhookDeliverer: Worker = {
  name: 'webhook-deliverer',
  start(deps) {
    const http = createHttpClient({
      policy: { plainHttp: 'allowed-networks', allowPrivate: deps.config.allowPrivateTargets },
      userAgent: deps.config.siteName,
      timeoutMs: TIMEOUT_MS,
      maxSocketsPerHost: SOCKETS_PER_HOST,
    })
    const turns = createTurns(deps)
    const metrics = deliveryMetrics(deps.metrics.registry)
    let isStopping = false

    async function deliverTo(endpointId: string): Promise<void> {
      const until = performance.now() + LANE_MS
      let delivery = await turns.run({ endpointId, ended: null, wantsNext: true })
      while (delivery) delivery = await attempt(delivery, until)
    }

    async function attempt(delivery: DeliveryInHand, laneUntilMs: number): Promise<DeliveryInHand | null> {
      deps.crashPoint('delivery-claimed')
      // A process that was frozen may have lost its lease to another: what it can no longer send in time, it leaves.
      if (performance.now() - delivery.claimedAtMs > LEASE_MS - TIMEOUT_MS) return null
      const sent = await sendSigned(http, deps.now, delivery, delivery)
      deps.crashPoint('delivery-sent')
      const { endpointId, n } = delivery
      const outcome = sent.outcome.result === 'delivered' ? 'delivered' : sent.outcome.failure
      const wantsNext = !isStopping && performance.now() < laneUntilMs
      const next = await turns.run({ endpointId, ended: { delivery, sent }, wantsNext })
      deps.crashPoint('delivery-recorded')
      metrics.attempts.inc({ outcome })
      deps.log.info(
        { deliveryId: delivery.id, attempt: n, outcome, status: sent.statusCode, durationMs: sent.durationMs },
        'delivery.attempted',
      )
      return next
    }

    const subscription = on(deliveryDue, AT_ONCE, ({ endpointId }) => deliverTo(endpointId))
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
