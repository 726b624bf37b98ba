import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { FlipReason, NotifiedPing } from './notification.ts'

export interface IntegrationForSending {
  uuid: string
  kind: string
  name: string
  sealedConfig: string
  isEmailVerified: boolean
  organisationId: number
  projectId: number
  projectUuid: string
  projectName: string
}

/** Integrations by id, in their order; null for those that were deleted. */
export async function integrationsForSending(
  db: Knex,
  integrationIds: readonly number[],
): Promise<(IntegrationForSending | null)[]> {
  const rows = await query<IntegrationForSending & { id: number }>(
    db,
    `SELECT c.id, c.uuid, c.kind, c.name, c.sealed_config AS "sealedConfig", c.email_verified AS "isEmailVerified",
            p.organisation_id AS "organisationId", p.id AS "projectId", p.uuid AS "projectUuid", p.name AS "projectName"
     FROM integrations c JOIN projects p ON p.id = c.project_id WHERE c.id = ANY(?::bigint[])`,
    [integrationIds],
  )
  const channels = new Map(rows.map(({ id, ...channel }) => [id, channel]))
  return integrationIds.map((id) => channels.get(id) ?? null)
}

export interface FlipForSending {
  at: Micros
  reason: FlipReason
  checkId: number
  /** when the outage began that this flip ended; null unless the flip before went to down */
  downSince: Micros | null
}

/** Flips by id, in their order; null for those that went with their check. */
export async function flipsForSending(db: Knex, flipIds: readonly number[]): Promise<(FlipForSending | null)[]> {
  const rows = await query<FlipForSending & { id: number }>(
    db,
    `SELECT f.id, ${microsOf('f.at')} AS at, f.reason, f.check_id AS "checkId", before.at AS "downSince"
     FROM flips f
     LEFT JOIN LATERAL (
       SELECT CASE WHEN p.to_status = 'down' THEN ${microsOf('p.at')} END AS at FROM flips p
       WHERE p.check_id = f.check_id AND p.id < f.id ORDER BY p.id DESC LIMIT 1) before ON true
     WHERE f.id = ANY(?::bigint[])`,
    [flipIds],
  )
  const flips = new Map(rows.map(({ id, ...flip }) => [id, flip]))
  return flipIds.map((id) => flips.get(id) ?? null)
}

/**
 * Per check the newest ping not later than an instant, in the order asked: a message never shows one that came after the
 * deadline. Null where there is none.
 */
export async function lastPingsUntil(
  db: Knex,
  requested: readonly { checkId: number; until: Micros }[],
): Promise<(NotifiedPing | null)[]> {
  const rows = await query<NotifiedPing & { place: number }>(
    db,
    `SELECT t.place, ping.* FROM unnest(?::int[], ?::bigint[], ?::bigint[]) AS t(place, check_id, until)
     JOIN LATERAL (
       SELECT n, type, ${microsOf('at')} AS at, scheme, remote_addr AS "remoteAddr", method, ua,
              exit_status AS "exitStatus", body
       FROM pings WHERE check_id = t.check_id AND at <= ${timestampOf('t.until')} ORDER BY n DESC LIMIT 1) ping ON true`,
    [requested.map((_, place) => place), requested.map(({ checkId }) => checkId), requested.map(({ until }) => until)],
  )
  const pings = new Map(rows.map(({ place, ...ping }) => [place, ping]))
  return requested.map((_, place) => pings.get(place) ?? null)
}

/** What messages under a policy say of their incident. */
export interface IncidentForSending {
  checkId: number
  severity: string
  downAt: Micros
  upAt: Micros | null
  /** of the newest flip to down */
  reason: FlipReason
}

/** Incidents by id, in their order; null for those that went with their check. */
export async function incidentsForSending(db: Knex, ids: readonly string[]): Promise<(IncidentForSending | null)[]> {
  const rows = await query<IncidentForSending & { id: string }>(
    db,
    `SELECT i.id, i.check_id AS "checkId", i.severity, ${microsOf('i.down_at')} AS "downAt",
            ${microsOf('coalesce(i.resolved_at, i.up_at)')} AS "upAt", coalesce(flip.reason, '') AS reason
     FROM incidents i
     LEFT JOIN LATERAL (
       SELECT f.reason FROM flips f WHERE f.check_id = i.check_id AND f.to_status = 'down'
         AND f.at <= coalesce(i.resolved_at, now()) ORDER BY f.id DESC LIMIT 1) flip ON true
     WHERE i.id = ANY(?::uuid[])`,
    [ids],
  )
  const incidents = new Map(rows.map(({ id, ...incident }) => [id, incident]))
  return ids.map((id) => incidents.get(id) ?? null)
}
