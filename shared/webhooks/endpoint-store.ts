import type { Knex } from 'knex'
import type { ApiEnv } from '../environment.ts'
import { columns, execute, query, typed } from '../platform/database/sql.ts'
import type { Micros } from '../time.ts'
import { endDeliveriesOfInactive } from './claim-store.ts'
import type { Endpoint } from './endpoint.ts'

/** Endpoints of another organisation or environment are not found. */
export interface EndpointScope {
  organisationId: number
  env: ApiEnv
}

const ENDPOINT = columns<Endpoint>()(`
  id, env, url, description, event_types, ordered, state, state_reason AS reason, failures, last_success_at,
  CASE WHEN previous_expires_at > now() THEN previous_expires_at END AS previousSecretExpiresAt, created_at,
  updated_at`)
const OWNED = `organisation_id = ? AND env = ? AND state <> 'DELETED'`

export interface NewEndpoint extends EndpointScope {
  id: string
  url: string
  description: string
  eventTypes: readonly string[]
  ordered: boolean
  sealedSecret: string
  /** event types that it may receive, independent of its subscription; absent is all */
  readable?: readonly string[]
}

export async function insertEndpoint(tx: Knex, endpoint: NewEndpoint): Promise<Endpoint> {
  const { id, organisationId, env, url, description, eventTypes, ordered, sealedSecret } = endpoint
  const rows = await query(
    tx,
    typed`INSERT INTO webhook_endpoints
       (id, organisation_id, env, url, description, event_types, ordered, sealed_secret, readable, created_at,
       updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, now(), now()) RETURNING ${ENDPOINT}`,
    [id, organisationId, env, url, description, eventTypes, ordered, sealedSecret, endpoint.readable ?? null],
  )
  const [row] = rows
  if (!row) throw new Error('the endpoint was not stored')
  return row
}

export async function countEndpoints(tx: Knex, { organisationId, env }: EndpointScope): Promise<number> {
  const [row] = await query<{ count: number }>(tx, `SELECT count(*) AS count FROM webhook_endpoints WHERE ${OWNED}`, [
    organisationId,
    env,
  ])
  return row?.count ?? 0
}

/** In the order of creation, after one of them. */
export async function listEndpoints(
  db: Knex,
  scope: EndpointScope & { after: { createdAt: string; id: string } | null; limit: number },
): Promise<Endpoint[]> {
  const { organisationId, env, after, limit } = scope
  return await query(
    db,
    typed`SELECT ${ENDPOINT} FROM webhook_endpoints
     WHERE ${OWNED} AND (?::uuid IS NULL OR (date_trunc('milliseconds', created_at), id) > (?::timestamptz, ?::uuid))
     ORDER BY date_trunc('milliseconds', created_at), id LIMIT ?`,
    [organisationId, env, after?.id ?? null, after?.createdAt ?? null, after?.id ?? null, limit],
  )
}

export async function findEndpoint(
  db: Knex,
  { organisationId, env }: EndpointScope,
  id: string,
): Promise<Endpoint | undefined> {
  const rows = await query(db, typed`SELECT ${ENDPOINT} FROM webhook_endpoints WHERE ${OWNED} AND id = ?`, [
    organisationId,
    env,
    id,
  ])
  return rows[0]
}

/** Uses the deliverer's lock, so that no delivery is claimed or recorded meanwhile. */
export async function lockEndpoint(
  tx: Knex,
  { organisationId, env }: EndpointScope,
  id: string,
): Promise<Endpoint | undefined> {
  const rows = await query(
    tx,
    typed`SELECT ${ENDPOINT} FROM webhook_endpoints WHERE ${OWNED} AND id = ? FOR NO KEY UPDATE`,
    [organisationId, env, id],
  )
  return rows[0]
}

/** Null members stay unchanged. A new address resets the health. */
export interface EndpointChange {
  url: string | null
  description: string | null
  eventTypes: readonly string[] | null
  ordered: boolean | null
}

export async function changeEndpoint(tx: Knex, id: string, change: EndpointChange): Promise<Endpoint> {
  const rows = await query(
    tx,
    typed`UPDATE webhook_endpoints SET description = coalesce(?, description), event_types = coalesce(?::text[], event_types),
       ordered = coalesce(?::boolean, ordered), url = coalesce(?, url), updated_at = now(),
       breaker = CASE WHEN ?::boolean THEN NULL ELSE breaker END,
       paused_until = CASE WHEN ?::boolean THEN NULL ELSE paused_until END,
       failures = CASE WHEN ?::boolean THEN 0 ELSE failures END,
       failing_since = CASE WHEN ?::boolean THEN NULL ELSE failing_since END
     WHERE id = ? RETURNING ${ENDPOINT}`,
    [
      change.description,
      change.eventTypes,
      change.ordered,
      change.url,
      ...Array.from({ length: 4 }, () => change.url !== null),
      id,
    ],
  )
  const [row] = rows
  if (!row) throw new Error('the endpoint is gone')
  return row
}

export async function enableEndpoint(tx: Knex, id: string): Promise<void> {
  await execute(
    tx,
    `UPDATE webhook_endpoints SET state = 'ACTIVE', state_reason = NULL, breaker = NULL, paused_until = NULL, failures = 0,
       failing_since = NULL, updated_at = now() WHERE id = ?`,
    [id],
  )
}

/** Suppressed deliveries allow a replay; those of a deleted endpoint are cancelled. */
export async function closeEndpoint(tx: Knex, id: string, state: 'DISABLED' | 'DELETED', at: Micros): Promise<void> {
  await execute(
    tx,
    'UPDATE webhook_endpoints SET state = ?, state_reason = NULL, paused_until = NULL, updated_at = now() WHERE id = ?',
    [state, id],
  )
  await endDeliveriesOfInactive(tx, [id], at)
}

/** The new secret signs at once; the old one signs too for some more seconds. */
export async function rotateEndpointSecret(
  tx: Knex,
  id: string,
  sealedSecret: string,
  overlapSeconds: number,
): Promise<Endpoint> {
  const rows = await query(
    tx,
    typed`UPDATE webhook_endpoints SET sealed_previous_secret = CASE WHEN ?::int > 0 THEN sealed_secret END,
       previous_expires_at = CASE WHEN ?::int > 0 THEN now() + make_interval(secs => ?) END,
       sealed_secret = ?, updated_at = now() WHERE id = ? RETURNING ${ENDPOINT}`,
    [overlapSeconds, overlapSeconds, overlapSeconds, sealedSecret, id],
  )
  const [row] = rows
  if (!row) throw new Error('the endpoint is gone')
  return row
}

export interface EndpointListing {
  id: string
  organisation: string
  env: ApiEnv
  url: string
  state: string
  reason: string | null
  failures: number
  lastSuccessAt: Date | null
  since: Date
}

const ENDPOINT_LISTING_COLUMNS = columns<EndpointListing>()(`
  e.id, o.uuid AS organisation, e.env, e.url, e.state, e.state_reason AS reason, e.failures, e.last_success_at,
  e.updated_at AS since`)

export async function listInactive(db: Knex): Promise<EndpointListing[]> {
  return await query(
    db,
    typed`SELECT ${ENDPOINT_LISTING_COLUMNS} FROM webhook_endpoints e JOIN organisations o ON o.id = e.organisation_id
     WHERE e.state NOT IN ('ACTIVE', 'DELETED') ORDER BY e.state = 'DISABLED', e.updated_at DESC LIMIT 1000`,
  )
}

const ENDPOINT_SCOPE_COLUMNS = columns<EndpointScope>({ organisationId: 'organisation_id', env: 'env' })

/** Of any organisation, for the operator. */
export async function scopeOfEndpoint(db: Knex, id: string): Promise<EndpointScope | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${ENDPOINT_SCOPE_COLUMNS} FROM webhook_endpoints WHERE id = ? AND state <> 'DELETED'`,
    [id],
  )
  return rows[0]
}
