import type { Knex } from 'knex'
import { deliveryDue } from '../contracts/worker-messages.ts'
import type { ApiEnv } from '../environment.ts'
import type { Enqueue } from '../platform/broker/outbox.ts'
import { columns, query, typed } from '../platform/database/sql.ts'
import { filtersMatching, TEST_EVENT } from './event-types.ts'

/** Longer than a message usually waits; the sweeper sends another one only afterwards. */
const QUEUED_SECONDS = 15

export interface StoredEvent {
  id: string
  organisationId: number
  env: ApiEnv
  type: string
  dealId: string
}

const DELIVERIES_COLUMNS = columns<{ endpointId: string; state: string }>({ endpointId: 'endpoint_id', state: 'state' })

/** Stores the deliveries of an event in its transaction. Those of inactive endpoints are stored for replay. */
export async function scheduleDeliveries(tx: Knex, enqueue: Enqueue, event: StoredEvent): Promise<void> {
  if (event.type === TEST_EVENT) return
  const filters = filtersMatching(event.type)
  const made = await query(
    tx,
    typed`INSERT INTO webhook_deliveries
       (id, endpoint_id, event_id, order_key, state, next_attempt_at, queued_until, created_at, finished_at)
     SELECT gen_random_uuid(), id, ?, CASE WHEN ordered THEN ? END,
            CASE WHEN state = 'ACTIVE' THEN 'PENDING' ELSE 'SUPPRESSED' END, now(),
            now() + make_interval(secs => ?), now(), CASE WHEN state = 'ACTIVE' THEN NULL ELSE now() END
     FROM webhook_endpoints
     WHERE organisation_id = ? AND env = ? AND state <> 'DELETED' AND event_types && ?::text[]
       AND (readable IS NULL OR readable && ?::text[])
     RETURNING ${DELIVERIES_COLUMNS}`,
    [event.id, event.dealId, QUEUED_SECONDS, event.organisationId, event.env, filters, filters],
  )
  for (const { endpointId, state } of made) {
    if (state === 'PENDING') await enqueue(deliveryDue, { endpointId })
  }
}

/** Stores a delivery without the filter of the endpoint, for tests that the owner requests. */
export async function scheduleDelivery(
  tx: Knex,
  enqueue: Enqueue,
  delivery: { id: string; endpointId: string; eventId: string },
): Promise<void> {
  await query(
    tx,
    `INSERT INTO webhook_deliveries (id, endpoint_id, event_id, state, next_attempt_at, queued_until, created_at)
     VALUES (?, ?, ?, 'PENDING', now(), now() + make_interval(secs => ?), now())`,
    [delivery.id, delivery.endpointId, delivery.eventId, QUEUED_SECONDS],
  )
  await enqueue(deliveryDue, { endpointId: delivery.endpointId })
}

/**
 * Takes due deliveries, for each endpoint at most as many as it has free slots, and none while its breaker is open.
 * Steps from endpoint to endpoint through the index, so that a long backlog of one costs nothing. Concurrent sweepers never return the same delivery.
 */
export async function takeDueDeliveries(db: Knex, at: Date, perEndpoint: number, limit: number): Promise<string[]> {
  const rows = await query<{ endpointId: string }>(
    db,
    `WITH RECURSIVE clock AS (SELECT ?::timestamptz AS at), owed AS (
       (SELECT endpoint_id FROM webhook_deliveries WHERE state = 'PENDING' ORDER BY endpoint_id LIMIT 1)
       UNION ALL
       SELECT (SELECT d.endpoint_id FROM webhook_deliveries d
               WHERE d.state = 'PENDING' AND d.endpoint_id > o.endpoint_id ORDER BY d.endpoint_id LIMIT 1)
       FROM owed o WHERE o.endpoint_id IS NOT NULL),
     due AS (
       SELECT d.id FROM clock, owed o
       JOIN webhook_endpoints e ON e.id = o.endpoint_id AND e.state = 'ACTIVE'
       CROSS JOIN LATERAL (
         SELECT greatest(0, ? - count(*)) AS free FROM webhook_deliveries i
         WHERE i.endpoint_id = e.id AND i.lease_until > clock.at) slot
       CROSS JOIN LATERAL (
         SELECT p.id FROM webhook_deliveries p
         WHERE p.endpoint_id = e.id AND p.state = 'PENDING' AND p.next_attempt_at <= clock.at
           AND (p.queued_until IS NULL OR p.queued_until <= clock.at)
           AND (p.lease_until IS NULL OR p.lease_until <= clock.at)
         ORDER BY p.next_attempt_at, p.seq LIMIT slot.free) d
       WHERE e.paused_until IS NULL OR e.paused_until <= clock.at
       LIMIT ?),
     locked AS (SELECT d.id FROM webhook_deliveries d JOIN due USING (id) FOR UPDATE OF d SKIP LOCKED)
     UPDATE webhook_deliveries d SET queued_until = clock.at + make_interval(secs => ?)
     FROM locked, clock WHERE d.id = locked.id RETURNING d.endpoint_id AS "endpointId"`,
    [at, perEndpoint, limit, QUEUED_SECONDS],
  )
  return rows.map(({ endpointId }) => endpointId)
}

export async function inactiveWithOpen(db: Knex): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `SELECT e.id FROM webhook_endpoints e WHERE e.state <> 'ACTIVE' AND EXISTS (
       SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = e.id AND d.state = 'PENDING')`,
  )
  return rows.map(({ id }) => id)
}

export interface Backlog {
  due: number
  /** due time of the oldest; 0 if none is due */
  oldestSeconds: number
  /** not ended, including the due ones */
  open: number
}

const BACKLOG_COLUMNS = columns<{ due: number; oldest: number | null; open: number }>()(`
  count(*) FILTER (WHERE next_attempt_at <= ?::timestamptz) AS due, count(*) AS open,
  extract(epoch FROM ?::timestamptz - min(next_attempt_at))::float8 AS oldest`)

export async function readBacklog(db: Knex, at: Date): Promise<Backlog> {
  const [row] = await query(db, typed`SELECT ${BACKLOG_COLUMNS} FROM webhook_deliveries WHERE state = 'PENDING'`, [
    at,
    at,
  ])
  return { due: row?.due ?? 0, open: row?.open ?? 0, oldestSeconds: Math.max(0, row?.oldest ?? 0) }
}
