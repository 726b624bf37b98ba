import type { Knex } from 'knex'
import { deliveryDue } from '../contracts/worker-messages.ts'
import type { Enqueue } from '../platform/broker/outbox.ts'
import { columns, execute, query, typed } from '../platform/database/sql.ts'
import type { DeliveryState } from './endpoint.ts'
import type { EndpointScope } from './endpoint-store.ts'
import { SLOTS } from './slots.ts'

export interface Delivery {
  id: string
  seq: number
  endpointId: string
  eventId: string
  eventType: string
  dealId: string
  state: DeliveryState
  attempts: number
  nextAttemptAt: Date | null
  createdAt: Date
  finishedAt: Date | null
}

const DELIVERY_COLUMNS = columns<Delivery>()(`
  d.id, d.seq, d.endpoint_id, d.event_id, ev.type AS eventType, ev.deal_id, d.state, d.attempts,
  CASE WHEN d.state = 'PENDING' THEN d.next_attempt_at END AS nextAttemptAt, d.created_at, d.finished_at`)

/** Newest first. `before` is the seq of the last row of the previous page; `readable` are event types, null is all. */
export async function listDeliveries(
  db: Knex,
  endpointId: string,
  page: { state: DeliveryState | null; before: number | null; limit: number; readable: readonly string[] | null },
): Promise<Delivery[]> {
  return await query(
    db,
    typed`SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries d JOIN events ev ON ev.id = d.event_id
     WHERE d.endpoint_id = ? AND (?::text IS NULL OR d.state = ?) AND (?::bigint IS NULL OR d.seq < ?)
       AND (?::text[] IS NULL OR ev.type = ANY(?::text[]))
     ORDER BY d.seq DESC LIMIT ?`,
    [endpointId, page.state, page.state, page.before, page.before, page.readable, page.readable, page.limit],
  )
}

const BODY_COLUMNS = columns<{ body: string }>({ body: 'ev.body' })

/** `readable` are event types; null is all. Also finds deliveries of deleted endpoints. */
export async function findDelivery(
  db: Knex,
  { organisationId, env }: EndpointScope,
  id: string,
  readable: readonly string[] | null,
): Promise<(Delivery & { body: string }) | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${DELIVERY_COLUMNS}, ${BODY_COLUMNS} FROM webhook_deliveries d JOIN events ev ON ev.id = d.event_id
     JOIN webhook_endpoints e ON e.id = d.endpoint_id WHERE d.id = ? AND e.organisation_id = ? AND e.env = ?
       AND (?::text[] IS NULL OR ev.type = ANY(?::text[]))`,
    [id, organisationId, env, readable, readable],
  )
  return rows[0]
}

export interface Attempt {
  n: number
  startedAt: Date
  durationMs: number | null
  /** interrupted: our process died; it is unknown if the request reached the endpoint */
  outcome: 'delivered' | 'failed' | 'interrupted'
  statusCode: number | null
  failure: string | null
}

const ATTEMPT_COLUMNS = columns<Attempt>()('n, started_at, duration_ms, outcome, status_code, failure')

export async function listAttempts(db: Knex, deliveryId: string): Promise<Attempt[]> {
  return await query(db, typed`SELECT ${ATTEMPT_COLUMNS} FROM webhook_attempts WHERE delivery_id = ? ORDER BY n`, [
    deliveryId,
  ])
}

const RESPONSE_COLUMNS = columns<{ response: Buffer | null }>({ response: 'response' })

/** Includes the beginning of each response, for the operator only. */
export async function listAttemptsWithAnswers(
  db: Knex,
  deliveryId: string,
): Promise<(Attempt & { response: Buffer | null })[]> {
  return await query(
    db,
    typed`SELECT ${ATTEMPT_COLUMNS}, ${RESPONSE_COLUMNS} FROM webhook_attempts WHERE delivery_id = ? ORDER BY n`,
    [deliveryId],
  )
}

/** Due now; the caller has locked the endpoint. */
export async function restartDelivery(
  tx: Knex,
  enqueue: Enqueue,
  delivery: { id: string; endpointId: string },
): Promise<void> {
  await execute(
    tx,
    `UPDATE webhook_deliveries SET state = 'PENDING', attempt_in_schedule = 0, next_attempt_at = now(), finished_at = NULL,
       queued_until = NULL WHERE id = ?`,
    [delivery.id],
  )
  await enqueue(deliveryDue, { endpointId: delivery.endpointId })
}

/** Cancelled deliveries are final, and pending ones need no replay. */
export const REPLAYABLE = ['FAILED', 'EXHAUSTED', 'SUPPRESSED', 'DELIVERED'] as const

export interface Replay {
  endpointId: string
  /** when the event occurred, inclusive; null for no bound */
  from: Date | null
  to: Date | null
  states: readonly (typeof REPLAYABLE)[number][]
  /** so that a repaired endpoint is not overloaded */
  perSecond: number
  limit: number
}

export async function countReplayable(db: Knex, replay: Omit<Replay, 'perSecond'>): Promise<number> {
  const { endpointId, states, from, to, limit } = replay
  const rows = await query<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM (
       SELECT FROM webhook_deliveries d JOIN events ev ON ev.id = d.event_id
       WHERE d.endpoint_id = ? AND d.state = ANY(?::text[])
         AND (?::timestamptz IS NULL OR ev.occurred_at >= ?) AND (?::timestamptz IS NULL OR ev.occurred_at <= ?)
       LIMIT ?) AS chosen`,
    [endpointId, states, from, from, to, to, limit],
  )
  return rows[0]?.count ?? 0
}

export interface EndpointRate {
  endpointId: string
  attempts: number
  delivered: number
  medianMs: number | null
}

const ENDPOINT_RATE_COLUMNS = columns<EndpointRate>()(`
  d.endpoint_id, count(*) AS attempts, count(*) FILTER (WHERE a.outcome = 'delivered') AS delivered,
  round(percentile_cont(0.5) WITHIN GROUP (ORDER BY a.duration_ms)) AS medianMs`)

export async function listEndpointRates(db: Knex, endpointIds: readonly string[]): Promise<Map<string, EndpointRate>> {
  const rows = await query(
    db,
    typed`SELECT ${ENDPOINT_RATE_COLUMNS} FROM webhook_deliveries d JOIN webhook_attempts a ON a.delivery_id = d.id
     WHERE d.endpoint_id = ANY(?::uuid[]) AND a.started_at > now() - interval '1 day' GROUP BY 1`,
    [endpointIds],
  )
  return new Map(rows.map((row) => [row.endpointId, row]))
}

const NEXT_ATTEMPTS_COLUMNS = columns<{ id: string; at: Date }>({ id: 'e.id', at: 'greatest(d.at, e.paused_until)' })

/** By endpoint id: the earliest due time, and not before the endpoint's pause ends. */
export async function listNextAttempts(db: Knex, endpointIds: readonly string[]): Promise<Map<string, Date>> {
  const rows = await query(
    db,
    typed`SELECT ${NEXT_ATTEMPTS_COLUMNS} FROM webhook_endpoints e
     CROSS JOIN LATERAL (SELECT min(next_attempt_at) AS at FROM webhook_deliveries
       WHERE endpoint_id = e.id AND state = 'PENDING') AS d
     WHERE e.id = ANY(?::uuid[]) AND e.state = 'ACTIVE' AND d.at IS NOT NULL`,
    [endpointIds],
  )
  return new Map(rows.map(({ id, at }) => [id, at]))
}

/** In the order of events, at a limited rate, after earlier replays. Returns `limit` when there may be more. */
export async function replayDeliveries(tx: Knex, enqueue: Enqueue, replay: Replay): Promise<number> {
  const replayed = await execute(
    tx,
    `WITH begin AS (
       SELECT coalesce(max(next_attempt_at) + interval '1 second', now()) AS at FROM webhook_deliveries
       WHERE endpoint_id = ? AND state = 'PENDING' AND attempt_in_schedule = 0 AND next_attempt_at > now()),
     chosen AS (
       SELECT d.id, row_number() OVER (ORDER BY d.seq) - 1 AS place
       FROM webhook_deliveries d JOIN events ev ON ev.id = d.event_id
       WHERE d.endpoint_id = ? AND d.state = ANY(?::text[])
         AND (?::timestamptz IS NULL OR ev.occurred_at >= ?) AND (?::timestamptz IS NULL OR ev.occurred_at <= ?)
       ORDER BY d.seq LIMIT ?)
     UPDATE webhook_deliveries d SET state = 'PENDING', attempt_in_schedule = 0, finished_at = NULL, queued_until = NULL,
       next_attempt_at = begin.at + make_interval(secs => floor(chosen.place / ?::float8))
     FROM chosen, begin WHERE d.id = chosen.id`,
    [
      replay.endpointId,
      replay.endpointId,
      replay.states,
      replay.from,
      replay.from,
      replay.to,
      replay.to,
      replay.limit,
      replay.perSecond,
    ],
  )
  // These messages start the endpoint's slots, which then continue without a message; the sweeper enqueues what becomes
  // due later.
  for (let slot = 0; slot < Math.min(SLOTS, replayed); slot++) {
    await enqueue(deliveryDue, { endpointId: replay.endpointId })
  }
  return replayed
}
