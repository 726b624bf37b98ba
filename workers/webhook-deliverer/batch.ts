import type { Knex } from 'knex'
import type { FailureClass } from '#shared/delivery/outcome.ts'
import type { Enqueue } from '#shared/platform/broker/outbox.ts'
import { type Micros, toIsoMillis, toSeconds } from '#shared/time.ts'
import {
  type AttemptRow,
  type ClaimedDelivery,
  claimDueDeliveries,
  endDeliveriesOfInactive,
  findPendingSandboxDeliveries,
  type LockedEndpoint,
  lockEndpoints,
  recordAttempts,
  saveHealth,
  suppressSandboxDeliveries,
} from '#shared/webhooks/claim-store.ts'
import { decide } from '#shared/webhooks/decide.ts'
import { isOperational } from '#shared/webhooks/event-types.ts'
import { recordEvent } from '#shared/webhooks/events/store.ts'
import { type SigningKeys, signatureHeaders } from '#shared/webhooks/signature.ts'
import { slotsOf } from '#shared/webhooks/slots.ts'
import type { WorkerDeps } from '../define-worker.ts'
import type { SentAttempt } from './send.ts'

export interface ClaimedAttempt extends ClaimedDelivery {
  url: string
  keys: SigningKeys
  /** monotonic clock before the claim */
  claimedAtMs: number
}

/** Records an attempt, claims the next delivery, or both. */
export interface Step {
  endpointId: string
  ended: { delivery: ClaimedAttempt; sent: SentAttempt } | null
  wantsNext: boolean
}

export interface BatchResult {
  claimed: ClaimedAttempt[]
  switchedOff: { endpointId: string; reason: string }[]
}

/** Maximum number of sandbox deliveries per batch; the next message continues. */
const SANDBOX_PAGE = 200

/** Records ended attempts with their events, and claims the next deliveries, in one transaction. */
export async function runBatch(
  deps: Pick<WorkerDeps, 'outbox' | 'now'>,
  keysOf: (endpoint: LockedEndpoint) => SigningKeys,
  steps: readonly Step[],
): Promise<BatchResult> {
  const at = deps.now()
  const endpointIds = [...new Set(steps.map(({ endpointId }) => endpointId))]
  return await deps.outbox.run(async (tx, enqueue) => {
    const endpoints = await lockEndpoints(tx, endpointIds, at)
    const batch = new Batch(tx, enqueue, at, endpoints)
    await batch.record(steps)
    const claimed = await batch.claim(steps, keysOf)
    await batch.sandbox(keysOf)
    await batch.save()
    return {
      claimed,
      switchedOff: batch.switchedOff.map(({ id, health }) => ({ endpointId: id, reason: `${health.reason}` })),
    }
  })
}

class Batch {
  readonly switchedOff: LockedEndpoint[] = []
  readonly #tx: Knex.Transaction
  readonly #enqueue: Enqueue
  readonly #at: Micros
  readonly #startedAtMs = performance.now()
  readonly #endpoints: Map<string, LockedEndpoint>
  readonly #changed = new Set<LockedEndpoint>()

  constructor(tx: Knex.Transaction, enqueue: Enqueue, at: Micros, endpoints: readonly LockedEndpoint[]) {
    this.#tx = tx
    this.#enqueue = enqueue
    this.#at = at
    this.#endpoints = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
  }

  async record(steps: readonly Step[]): Promise<void> {
    const rows: AttemptRow[] = []
    const exhausted: { delivery: ClaimedAttempt; endpoint: LockedEndpoint }[] = []
    for (const { ended, endpointId } of steps) {
      const endpoint = this.#endpoints.get(endpointId)
      if (!ended || !endpoint) continue
      const row = this.#decide(endpoint, ended)
      rows.push(row)
      if (row.state === 'EXHAUSTED') exhausted.push({ delivery: ended.delivery, endpoint })
    }
    const decided = await recordAttempts(this.#tx, rows, this.#at)
    for (const { delivery, endpoint } of exhausted) {
      if (decided.has(delivery.id) && !isOperational(delivery.eventType))
        await this.#notifyExhausted(delivery, endpoint)
    }
  }

  #decide(endpoint: LockedEndpoint, ended: { delivery: ClaimedAttempt; sent: SentAttempt }): AttemptRow {
    const { delivery, sent } = ended
    const wasActive = endpoint.health.state === 'ACTIVE'
    const decision = decide(endpoint.health, {
      outcome: sent.outcome,
      attemptInSchedule: delivery.attemptInSchedule,
      random: Math.random(),
      at: this.#at,
    })
    endpoint.health = decision.health
    this.#changed.add(endpoint)
    if (wasActive && decision.health.state !== 'ACTIVE') this.switchedOff.push(endpoint)
    const isSuppressed = decision.delivery === 'PENDING' && decision.health.state !== 'ACTIVE'
    return {
      deliveryId: delivery.id,
      n: delivery.n,
      startedAt: sent.startedAt,
      durationMs: sent.durationMs,
      statusCode: sent.statusCode,
      failure: failureOf(sent),
      response: sent.response,
      state: isSuppressed ? (endpoint.isDeleted ? 'CANCELLED' : 'SUPPRESSED') : decision.delivery,
      nextAttemptAt: isSuppressed ? null : decision.nextAttemptAt,
    }
  }

  async claim(steps: readonly Step[], keysOf: (endpoint: LockedEndpoint) => SigningKeys): Promise<ClaimedAttempt[]> {
    const wanted: { endpointId: string; slots: number; count: number }[] = []
    /** Health of endpoints after a claim: a half-open breaker records its probe. */
    const healthAfter = new Map<string, LockedEndpoint['health']>()
    for (const [endpointId, group] of Map.groupBy(steps, (step) => step.endpointId)) {
      const endpoint = this.#endpoints.get(endpointId)
      const count = group.filter(({ wantsNext }) => wantsNext).length
      if (!endpoint || endpoint.env === 'SANDBOX' || count === 0) continue
      const slots = slotsOf(endpoint.health, this.#at)
      if (slots.count === 0) continue
      wanted.push({ endpointId, slots: slots.count, count })
      healthAfter.set(endpointId, slots.health)
    }
    const claimed = await claimDueDeliveries(this.#tx, wanted, this.#at)
    return claimed.flatMap((delivery) => {
      const endpoint = this.#endpoints.get(delivery.endpointId)
      if (!endpoint) return []
      const health = healthAfter.get(endpoint.id)
      if (health && health.breaker !== endpoint.health.breaker) {
        endpoint.health = health
        this.#changed.add(endpoint)
      }
      return [{ ...delivery, url: endpoint.url, keys: keysOf(endpoint), claimedAtMs: this.#startedAtMs }]
    })
  }

  /** Signs and suppresses deliveries of the sandbox, which are never sent. */
  async sandbox(keysOf: (endpoint: LockedEndpoint) => SigningKeys): Promise<void> {
    const endpoints = [...this.#endpoints.values()].filter(
      ({ env, health }) => env === 'SANDBOX' && health.state === 'ACTIVE',
    )
    const pending = await findPendingSandboxDeliveries(
      this.#tx,
      endpoints.map(({ id }) => id),
      SANDBOX_PAGE,
    )
    const timestamp = Math.floor(toSeconds(this.#at))
    const signed = pending.flatMap(({ id, endpointId, eventId, body }) => {
      const endpoint = this.#endpoints.get(endpointId)
      if (!endpoint) return []
      return [{ id, headers: signatureHeaders(keysOf(endpoint), { id: eventId, timestamp, body }) }]
    })
    await suppressSandboxDeliveries(this.#tx, signed, this.#at)
  }

  /** Stores the health of endpoints, ends deliveries of inactive ones, and records an event for each disabled one. */
  async save(): Promise<void> {
    await saveHealth(this.#tx, [...this.#changed], this.#at)
    const inactive = [...this.#endpoints.values()].filter(({ health }) => health.state !== 'ACTIVE')
    await endDeliveriesOfInactive(
      this.#tx,
      inactive.map(({ id }) => id),
      this.#at,
    )
    for (const endpoint of this.switchedOff) {
      await this.#emit(endpoint, 'webhook.endpoint_disabled', endpoint.id, ['endpointId', 'state', 'reason'])
    }
  }

  async #notifyExhausted(delivery: ClaimedAttempt, endpoint: LockedEndpoint): Promise<void> {
    await this.#emit(endpoint, 'webhook.delivery_exhausted', delivery.id, ['deliveryId', 'endpointId', 'eventId'])
  }

  async #emit(endpoint: LockedEndpoint, type: string, dealId: string, fields: readonly string[]): Promise<void> {
    const { env, organisationId } = endpoint
    const occurredAt = toIsoMillis(this.#at)
    await recordEvent(this.#tx, this.#enqueue, { env, organisationId, type, dealId, fields, occurredAt })
  }
}

function failureOf({ outcome }: SentAttempt): FailureClass | null {
  return outcome.result === 'delivered' ? null : outcome.failure
}
