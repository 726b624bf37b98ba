import type { Attempt, Delivery } from '#shared/webhooks/delivery-store.ts'
import type { Endpoint } from '#shared/webhooks/endpoint.ts'

const iso = (at: Date | null) => at?.toISOString() ?? null

export function endpointView(endpoint: Endpoint) {
  const { id, url, description, eventTypes, ordered, state, reason, failures } = endpoint
  return {
    id,
    url,
    description,
    eventTypes,
    ordered,
    mode: endpoint.env === 'SANDBOX' ? 'sandbox' : 'live',
    state,
    reason,
    consecutiveFailures: failures,
    lastSuccessAt: iso(endpoint.lastSuccessAt),
    previousSecretExpiresAt: iso(endpoint.previousSecretExpiresAt),
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  }
}

export function deliveryView(delivery: Delivery) {
  const { id, endpointId, eventId, eventType, dealId, state, attempts } = delivery
  return {
    id,
    endpointId,
    eventId,
    event: eventType,
    dealId,
    state,
    attempts,
    nextAttemptAt: iso(delivery.nextAttemptAt),
    createdAt: delivery.createdAt.toISOString(),
    finishedAt: iso(delivery.finishedAt),
  }
}

/** Omits the signatures: they can be computed again from the body, the time and the secret. */
export function attemptView(attempt: Attempt, eventId: string) {
  return {
    attempt: attempt.n,
    startedAt: attempt.startedAt.toISOString(),
    durationMs: attempt.durationMs,
    outcome: attempt.outcome,
    status: attempt.statusCode,
    failure: attempt.failure,
    requestHeaders: {
      'content-type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(attempt.startedAt.getTime() / 1000)),
    },
  }
}
