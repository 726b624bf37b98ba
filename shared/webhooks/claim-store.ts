import type { Knex } from 'knex'
import { type Breaker, closedBreaker } from '../delivery/circuit-breaker.ts'
import type { FailureClass } from '../delivery/outcome.ts'
import type { ApiEnv } from '../environment.ts'
import { microsOf, timestampOf } from '../platform/database/instants.ts'
import { columns, execute, query, typed } from '../platform/database/sql.ts'
import type { Micros } from '../time.ts'
import type { EndpointHealth, EndpointState, SwitchedOffReason } from './endpoint.ts'
import { pausedUntil } from './slots.ts'

/** Longer than an attempt can take, so that only a dead process loses its claim. */
export const LEASE_MS = 60_000

export interface LockedEndpoint {
  id: string
  organisationId: number
  env: ApiEnv
  url: string
  /** deleted endpoints are locked too, because their attempts in flight still have to end */
  isDeleted: boolean
  sealedSecret: string
  /** null if it has expired */
  sealedPreviousSecret: string | null
  health: EndpointHealth
}

interface EndpointRow extends Omit<LockedEndpoint, 'isDeleted' | 'health'> {
  state: EndpointState | 'DELETED'
  reason: SwitchedOffReason | null
  breaker: Breaker | null
  failures: number
  failingSince: Micros | null
  lastSuccessAt: Micros | null
}

const ENDPOINT_ROW_COLUMNS = columns<EndpointRow>()(`
  id, organisation_id, env, url, state, state_reason AS reason, sealed_secret,
  CASE WHEN previous_expires_at > ${timestampOf('?::bigint')} THEN sealed_previous_secret END AS sealedPreviousSecret,
  breaker, failures, ${microsOf('failing_since')} AS failingSince, ${microsOf('last_success_at')} AS lastSuccessAt`)

/** In the order of ids against deadlocks; does not block inserts of deliveries. Omits missing rows. */
export async function lockEndpoints(tx: Knex, ids: readonly string[], at: Micros): Promise<LockedEndpoint[]> {
  const rows = await query(
    tx,
    typed`SELECT ${ENDPOINT_ROW_COLUMNS}
     FROM webhook_endpoints WHERE id = ANY(?::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
    [at, ids],
  )
  return rows.map(({ state, reason, breaker, failures, failingSince, lastSuccessAt, ...endpoint }) => ({
    ...endpoint,
    isDeleted: state === 'DELETED',
    health: {
      state: state === 'DELETED' ? 'DISABLED' : state,
      reason,
      breaker: breaker ?? closedBreaker,
      failures,
      failingSince,
      lastSuccessAt,
    },
  }))
}

export async function saveHealth(
  tx: Knex,
  endpoints: readonly Pick<LockedEndpoint, 'id' | 'health'>[],
  at: Micros,
): Promise<void> {
  if (endpoints.length === 0) return
  const all = endpoints.map(({ health }) => health)
  await execute(
    tx,
    `UPDATE webhook_endpoints e SET
       state = CASE WHEN e.state = 'DELETED' THEN e.state ELSE h.state END, state_reason = h.reason,
       breaker = h.breaker, paused_until = ${timestampOf('h.held')}, failures = h.failures,
       failing_since = ${timestampOf('h.failing')}, last_success_at = ${timestampOf('h.success')},
       updated_at = CASE WHEN e.state = h.state THEN e.updated_at ELSE ${timestampOf('?::bigint')} END
     FROM unnest(?::uuid[], ?::text[], ?::text[], ?::jsonb[], ?::bigint[], ?::int[], ?::bigint[], ?::bigint[])
       AS h(id, state, reason, breaker, held, failures, failing, success)
     WHERE e.id = h.id`,
    [
      at,
      endpoints.map(({ id }) => id),
      all.map(({ state }) => state),
      all.map(({ reason }) => reason),
      all.map(({ breaker }) => (breaker === closedBreaker ? null : JSON.stringify(breaker))),
      all.map(pausedUntil),
      all.map(({ failures }) => failures),
      all.map(({ failingSince }) => failingSince),
      all.map(({ lastSuccessAt }) => lastSuccessAt),
    ],
  )
}

export interface AttemptRow {
  deliveryId: string
  n: number
  startedAt: Micros
  durationMs: number
  statusCode: number | null
  failure: FailureClass | null
  response: Buffer | null
  state: 'DELIVERED' | 'PENDING' | 'FAILED' | 'EXHAUSTED' | 'SUPPRESSED' | 'CANCELLED'
  nextAttemptAt: Micros | null
}

/** A process that lost its lease only logs its request. Returns ids of changed deliveries. */
export async function recordAttempts(tx: Knex, attempts: readonly AttemptRow[], at: Micros): Promise<Set<string>> {
  if (attempts.length === 0) return new Set()
  const rows = await query<{ id: string }>(
    tx,
    `WITH ended AS (
       SELECT id, n, ${timestampOf('started')} AS started, ms, status, failure, response, state,
              ${timestampOf('next')} AS next
       FROM unnest(?::uuid[], ?::int[], ?::bigint[], ?::int[], ?::int[], ?::text[], ?::bytea[], ?::text[], ?::bigint[])
         AS t(id, n, started, ms, status, failure, response, state, next)),
     logged AS (
       INSERT INTO webhook_attempts (delivery_id, n, started_at, duration_ms, outcome, status_code, failure, response)
       SELECT id, n, started, ms, CASE WHEN failure IS NULL THEN 'delivered' ELSE 'failed' END, status, failure, response
       FROM ended
       ON CONFLICT (delivery_id, n) DO UPDATE SET started_at = excluded.started_at,
         duration_ms = excluded.duration_ms, outcome = excluded.outcome, status_code = excluded.status_code,
         failure = excluded.failure, response = excluded.response)
     UPDATE webhook_deliveries d SET state = e.state, claimed_at = NULL, lease_until = NULL, queued_until = NULL,
       next_attempt_at = coalesce(e.next, d.next_attempt_at),
       finished_at = CASE WHEN e.state = 'PENDING' THEN NULL ELSE ${timestampOf('?::bigint')} END
     FROM ended e WHERE d.id = e.id AND d.attempts = e.n AND d.state = 'PENDING' RETURNING d.id`,
    [
      attempts.map(({ deliveryId }) => deliveryId),
      attempts.map(({ n }) => n),
      attempts.map(({ startedAt }) => startedAt),
      attempts.map(({ durationMs }) => durationMs),
      attempts.map(({ statusCode }) => statusCode),
      attempts.map(({ failure }) => failure),
      attempts.map(({ response }) => response),
      attempts.map(({ state }) => state),
      attempts.map(({ nextAttemptAt }) => nextAttemptAt),
      at,
    ],
  )
  return new Set(rows.map(({ id }) => id))
}

export interface ClaimedDelivery {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  /** canonical, exactly as it is sent */
  body: string
  /** from 1; a process that lost its lease has an older number */
  n: number
  /** since the schedule last restarted, this one included */
  round: number
}

const CLAIMED_DELIVERY_COLUMNS = columns<ClaimedDelivery>()(`
  d.id, d.endpoint_id, d.event_id, ev.type AS eventType, ev.body, d.attempts AS n, d.round`)

/**
 * Claims as many as slots are free; exact across processes, because the endpoints' rows are locked. In strict order
 * only the earliest open delivery of a deal is claimed. An expired lease is logged as interrupted.
 */
export async function claimDue(
  tx: Knex,
  wanted: readonly { endpointId: string; slots: number; count: number }[],
  at: Micros,
): Promise<ClaimedDelivery[]> {
  if (wanted.length === 0) return []
  return await query(
    tx,
    typed`WITH clock AS (SELECT ${timestampOf('?::bigint')} AS at),
     picked AS (
       SELECT due.id, due.n, due.claimed_at, due.lease_until
       FROM clock, unnest(?::uuid[], ?::int[], ?::int[]) AS w(endpoint_id, slots, wanted)
       CROSS JOIN LATERAL (
         SELECT greatest(0, w.slots - count(*)) AS free FROM webhook_deliveries i
         WHERE i.endpoint_id = w.endpoint_id AND i.lease_until > clock.at) slot
       CROSS JOIN LATERAL (
         SELECT d.id, d.attempts AS n, d.claimed_at, d.lease_until FROM webhook_deliveries d
         WHERE d.endpoint_id = w.endpoint_id AND d.state = 'PENDING' AND d.next_attempt_at <= clock.at
           AND (d.lease_until IS NULL OR d.lease_until <= clock.at)
           AND (d.order_key IS NULL OR NOT EXISTS (
             SELECT 1 FROM webhook_deliveries b WHERE b.endpoint_id = d.endpoint_id AND b.state = 'PENDING'
               AND b.order_key = d.order_key AND b.seq < d.seq))
         ORDER BY d.next_attempt_at, d.seq LIMIT least(slot.free, w.wanted)) due),
     interrupted AS (
       INSERT INTO webhook_attempts (delivery_id, n, started_at, outcome)
       SELECT id, n, claimed_at, 'interrupted' FROM picked WHERE lease_until IS NOT NULL
       ON CONFLICT DO NOTHING)
     UPDATE webhook_deliveries d SET attempts = d.attempts + 1, round = d.round + 1, claimed_at = clock.at,
       lease_until = clock.at + make_interval(secs => ?)
     FROM picked, clock, events ev WHERE d.id = picked.id AND d.state = 'PENDING' AND ev.id = d.event_id
     RETURNING ${CLAIMED_DELIVERY_COLUMNS}`,
    [
      at,
      wanted.map(({ endpointId }) => endpointId),
      wanted.map(({ slots }) => slots),
      wanted.map(({ count }) => count),
      LEASE_MS / 1000,
    ],
  )
}

const SANDBOX_DUE_COLUMNS = columns<Pick<ClaimedDelivery, 'id' | 'endpointId' | 'eventId' | 'body'>>()(`
  d.id, d.endpoint_id, d.event_id, ev.body`)

/** In the order of their events. */
export async function sandboxDue(
  tx: Knex,
  endpointIds: readonly string[],
  limit: number,
): Promise<Pick<ClaimedDelivery, 'id' | 'endpointId' | 'eventId' | 'body'>[]> {
  if (endpointIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${SANDBOX_DUE_COLUMNS} FROM webhook_deliveries d JOIN events ev ON ev.id = d.event_id
     WHERE d.endpoint_id = ANY(?::uuid[]) AND d.state = 'PENDING' ORDER BY d.seq LIMIT ?`,
    [endpointIds, limit],
  )
}

/** Stores the headers with which sandbox deliveries would have been sent. */
export async function suppressSigned(
  tx: Knex,
  signed: readonly { id: string; headers: Record<string, string> }[],
  at: Micros,
): Promise<void> {
  if (signed.length === 0) return
  await execute(
    tx,
    `UPDATE webhook_deliveries d SET state = 'SUPPRESSED_SANDBOX', signed_headers = s.headers, queued_until = NULL,
       finished_at = ${timestampOf('?::bigint')}
     FROM unnest(?::uuid[], ?::jsonb[]) AS s(id, headers) WHERE d.id = s.id AND d.state = 'PENDING'`,
    [at, signed.map(({ id }) => id), signed.map(({ headers }) => JSON.stringify(headers))],
  )
}

/** Skips those in flight; those of a deleted endpoint are cancelled. Returns their number. */
export async function settleInactive(tx: Knex, endpointIds: readonly string[], at: Micros): Promise<number> {
  if (endpointIds.length === 0) return 0
  return await execute(
    tx,
    `WITH clock AS (SELECT ${timestampOf('?::bigint')} AS at),
     open AS (
       SELECT d.id, d.attempts AS n, d.claimed_at, d.lease_until, e.state
       FROM clock, webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
       WHERE d.endpoint_id = ANY(?::uuid[]) AND d.state = 'PENDING' AND e.state <> 'ACTIVE'
         AND (d.lease_until IS NULL OR d.lease_until <= clock.at)
       FOR UPDATE OF d),
     interrupted AS (
       INSERT INTO webhook_attempts (delivery_id, n, started_at, outcome)
       SELECT id, n, claimed_at, 'interrupted' FROM open WHERE lease_until IS NOT NULL
       ON CONFLICT DO NOTHING)
     UPDATE webhook_deliveries d SET queued_until = NULL, claimed_at = NULL, lease_until = NULL,
       state = CASE WHEN open.state = 'DELETED' THEN 'CANCELLED' ELSE 'SUPPRESSED' END, finished_at = clock.at
     FROM open, clock WHERE d.id = open.id`,
    [at, endpointIds],
  )
}
