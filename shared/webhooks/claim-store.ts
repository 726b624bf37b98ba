import type { Knex } from 'knex'
import { type Breaker, closedBreaker } from '../delivery/circuit-breaker.ts'
import type { FailureClass } from '../delivery/outcome.ts'
import type { ApiEnv } from '../environment.ts'
import { microsOf, timestampOf } from '../platform/database/instants.ts'
import { columns, execute, query, typed } from '../platform/database/sql.ts'
import type { Micros } from '../time.ts'
import type { EndpointHealth, EndpointState, SwitchedOffReason } from './endpoint.ts'
import { pausedUntil } from './slots.ts'

/** Lease of a claimed delivery. An attempt is always shorter, so that only a dead process loses its lease. */
export const LEASE_MS = 60_000

export interface LockedEndpoint {
  id: string
  organisationId: number
  env: ApiEnv
  url: string
  /** a deleted endpoint is locked too, because its attempts in flight must still be recorded */
  isDeleted: boolean
  sealedSecret: string
  /** null without a previous secret, or after its expiry */
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

/**
 * Locks endpoints in the order of their ids, which prevents deadlocks. Deliveries can still be inserted. Omits missing
 * endpoints.
 */
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
       breaker = h.breaker, paused_until = ${timestampOf('h.paused_until')}, failures = h.failures,
       failing_since = ${timestampOf('h.failing_since')}, last_success_at = ${timestampOf('h.last_success_at')},
       updated_at = CASE WHEN e.state = h.state THEN e.updated_at ELSE ${timestampOf('?::bigint')} END
     FROM unnest(?::uuid[], ?::text[], ?::text[], ?::jsonb[], ?::bigint[], ?::int[], ?::bigint[], ?::bigint[])
       AS h(id, state, reason, breaker, paused_until, failures, failing_since, last_success_at)
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

/**
 * Logs ended attempts and sets the states of their deliveries. If another process has claimed a delivery since, only the
 * attempt is logged. Returns the ids of the changed deliveries.
 */
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
  /** number of the attempt, from 1; identifies the claim, because each claim increments it */
  n: number
  /** number of the attempt since the retry schedule last started, from 1 */
  attemptInSchedule: number
}

const CLAIMED_DELIVERY_COLUMNS = columns<ClaimedDelivery>()(`
  d.id, d.endpoint_id, d.event_id, ev.type AS eventType, ev.body, d.attempts AS n, d.attempt_in_schedule`)

/**
 * Claims due deliveries: increments their number of attempts and sets a lease. The caller has locked the endpoints, so
 * that `slots` limits the attempts of all processes. If an endpoint requires strict order, only the earliest pending
 * delivery of a deal is claimed. An attempt whose lease has expired is logged as interrupted.
 * @param wanted `slots`: maximum of concurrent attempts; `count`: maximum of deliveries to claim
 */
export async function claimDueDeliveries(
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
     UPDATE webhook_deliveries d SET attempts = d.attempts + 1,
       attempt_in_schedule = d.attempt_in_schedule + 1, claimed_at = clock.at,
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

const SANDBOX_DELIVERY_COLUMNS = columns<Pick<ClaimedDelivery, 'id' | 'endpointId' | 'eventId' | 'body'>>()(`
  d.id, d.endpoint_id, d.event_id, ev.body`)

/** Returns pending deliveries of sandbox endpoints in the order of their events, whether due or not. */
export async function findPendingSandboxDeliveries(
  tx: Knex,
  endpointIds: readonly string[],
  limit: number,
): Promise<Pick<ClaimedDelivery, 'id' | 'endpointId' | 'eventId' | 'body'>[]> {
  if (endpointIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${SANDBOX_DELIVERY_COLUMNS} FROM webhook_deliveries d JOIN events ev ON ev.id = d.event_id
     WHERE d.endpoint_id = ANY(?::uuid[]) AND d.state = 'PENDING' ORDER BY d.seq LIMIT ?`,
    [endpointIds, limit],
  )
}

/** Ends sandbox deliveries without sending them, and stores the headers that they would have had. */
export async function suppressSandboxDeliveries(
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

/**
 * Ends pending deliveries of inactive endpoints: CANCELLED if the endpoint is deleted, otherwise SUPPRESSED. Skips
 * attempts in flight. Returns the number of ended deliveries.
 */
export async function endDeliveriesOfInactive(tx: Knex, endpointIds: readonly string[], at: Micros): Promise<number> {
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
