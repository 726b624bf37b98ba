import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { hasWaitingFlip } from './flip-store.ts'
import type { Incident } from './incident.ts'

const COLUMNS = columns<IncidentRow>()(`
  i.id, i.check_id, i.project_id, i.state, i.policy_id, i.plan_version, i.is_direct, i.severity,
  ${microsOf('i.down_at')} AS downAt, ${microsOf('i.alert_at')} AS alertAt, ${microsOf('i.up_at')} AS upAt,
  ${microsOf('i.resolved_at')} AS resolvedAt, i.resolution, i.flips, i.failures, i.flapping, i.suppression, i.notified,
  i.skips, i.is_escalating, i.first_step, i.sequences, ${microsOf('i.exhausted_at')} AS exhaustedAt, ${microsOf('i.evaluated_at')} AS evaluatedAt,
  ${microsOf('i.next_at')} AS nextAt, ${microsOf('i.ack_at')} AS ackAt, i.ack_by, i.ack_via,
  ${microsOf('i.ack_until')} AS ackUntil, i.is_snoozed, i.lead_id, i.previous`)

interface IncidentRow extends Omit<Incident, 'ack'> {
  ackAt: Micros | null
  ackBy: string | null
  ackVia: string | null
  ackUntil: Micros | null
  isSnoozed: boolean
}

/**
 * Claims the most overdue first. Skips checks with a waiting flip, because the flip must be processed first. Call it
 * in the order of the index (`inIndexOrder`). `since` is in seconds.
 */
export async function claimDueIncidents(tx: Knex, limit: number, since: number): Promise<Incident[]> {
  const rows = await query(
    tx,
    typed`SELECT ${COLUMNS} FROM incidents i JOIN checks ON checks.id = i.check_id
     WHERE i.next_at <= now() - make_interval(secs => ?)
       AND NOT ${hasWaitingFlip('i.check_id')}
     ORDER BY i.next_at LIMIT ? FOR KEY SHARE OF checks SKIP LOCKED FOR UPDATE OF i SKIP LOCKED`,
    [since, limit],
  )
  return rows.map(toIncident)
}

/** Locks the open incidents of checks, in their order. */
export async function lockOpenIncidents(tx: Knex, checkIds: readonly number[]): Promise<Incident[]> {
  if (checkIds.length === 0) return []
  const rows = await query(
    tx,
    typed`SELECT ${COLUMNS} FROM incidents i WHERE i.check_id = ANY(?::bigint[]) AND i.resolved_at IS NULL
     ORDER BY i.n FOR UPDATE`,
    [checkIds],
  )
  return rows.map(toIncident)
}

const NEWEST_INCIDENTS_COLUMNS = columns<{ checkId: number; id: string }>()('newest.check_id, newest.id')

export async function newestIncidents(
  tx: Knex,
  checkIds: readonly number[],
): Promise<{ checkId: number; id: string }[]> {
  if (checkIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${NEWEST_INCIDENTS_COLUMNS} FROM unnest(?::bigint[]) AS t(check_id)
     CROSS JOIN LATERAL (
       SELECT id, check_id FROM incidents WHERE check_id = t.check_id ORDER BY n DESC LIMIT 1) newest`,
    [checkIds],
  )
}

export async function saveIncidents(tx: Knex, incidents: readonly Incident[]): Promise<void> {
  if (incidents.length === 0) return
  await execute(tx, SAVE, [JSON.stringify(incidents.map(toRow))])
}

/** A failure stored while its incident was opened did not find it, so the incident is evaluated again. */
const NEXT_AT = `CASE WHEN state = 'waiting' AND suppression = 'FAILURES' AND NOT EXISTS (SELECT FROM incidents o WHERE o.id = t.id)
      THEN least(${timestampOf('"nextAt"')}, now() + interval '1 second') ELSE ${timestampOf('"nextAt"')} END`

const SAVE = `
  INSERT INTO incidents AS i (id, project_id, check_id, state, policy_id, plan_version, is_direct, severity, down_at,
    alert_at, up_at, resolved_at, resolution, flips, failures, flapping, suppression, notified, skips, is_escalating, first_step,
    sequences, exhausted_at, evaluated_at, next_at, ack_at, ack_by, ack_via, ack_until, is_snoozed, previous)
  SELECT id, "projectId", "checkId", state, "policyId", "planVersion", "isDirect", severity, ${timestampOf('"downAt"')},
    ${timestampOf('"alertAt"')}, ${timestampOf('"upAt"')}, ${timestampOf('"resolvedAt"')}, resolution, flips, failures,
    flapping, suppression, notified, skips, "isEscalating", "firstStep", sequences, ${timestampOf('"exhaustedAt"')}, ${timestampOf('"evaluatedAt"')}, ${NEXT_AT},
    ${timestampOf('"ackAt"')}, "ackBy", "ackVia", ${timestampOf('"ackUntil"')}, "isSnoozed", previous
  FROM json_to_recordset(?::json) AS t(id uuid, "projectId" bigint, "checkId" bigint, state text, "policyId" bigint,
    "planVersion" bigint, "isDirect" boolean, severity text, "downAt" bigint, "alertAt" bigint, "upAt" bigint,
    "resolvedAt" bigint, resolution text, flips integer, failures integer, flapping boolean, suppression text, notified jsonb,
    skips jsonb, "isEscalating" boolean, "firstStep" integer, sequences jsonb, "exhaustedAt" bigint, "evaluatedAt" bigint, "nextAt" bigint, "ackAt" bigint, "ackBy" text,
    "ackVia" text, "ackUntil" bigint, "isSnoozed" boolean, previous uuid)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state, policy_id = excluded.policy_id,
    plan_version = excluded.plan_version, is_direct = excluded.is_direct, severity = excluded.severity,
    alert_at = excluded.alert_at, up_at = excluded.up_at, resolved_at = excluded.resolved_at,
    resolution = excluded.resolution, flips = excluded.flips, failures = excluded.failures,
    flapping = excluded.flapping, suppression = excluded.suppression, notified = excluded.notified, skips = excluded.skips,
    is_escalating = excluded.is_escalating,
    first_step = excluded.first_step, sequences = excluded.sequences, exhausted_at = excluded.exhausted_at, evaluated_at = excluded.evaluated_at, next_at = excluded.next_at,
    ack_at = excluded.ack_at, ack_by = excluded.ack_by, ack_via = excluded.ack_via, ack_until = excluded.ack_until,
    is_snoozed = excluded.is_snoozed`

function toRow({ ack, ...incident }: Incident): IncidentRow {
  return {
    ...incident,
    ackAt: ack?.at ?? null,
    ackBy: ack?.by ?? null,
    ackVia: ack?.via ?? null,
    ackUntil: ack?.until ?? null,
    isSnoozed: ack?.isSnooze ?? false,
  }
}

function toIncident({ ackAt, ackBy, ackVia, ackUntil, isSnoozed, ...row }: IncidentRow): Incident {
  const ack = { by: ackBy ?? '', via: ackVia ?? '', until: ackUntil, isSnooze: isSnoozed }
  return { ...row, ack: ackAt === null ? null : { at: ackAt, ...ack } }
}

/** Seconds since the oldest incident is due; null if none is. */
export async function oldestDueIncident(db: Knex): Promise<number | null> {
  const [row] = await query<{ age: number | null }>(
    db,
    'SELECT extract(epoch FROM now() - min(next_at))::float AS age FROM incidents WHERE next_at <= now()',
  )
  return row?.age ?? null
}

export async function pruneIncidents(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `WITH old AS (
       SELECT id FROM incidents WHERE resolved_at < now() - make_interval(days => ?) ORDER BY resolved_at LIMIT ?),
     messages AS (DELETE FROM notifications WHERE incident_id IN (SELECT id FROM old) AND flip_id IS NULL)
     DELETE FROM incidents WHERE id IN (SELECT id FROM old)`,
    [days, limit],
  )
}

/** Condition for incidents `i` with the policy `p` that have nothing left to send. */
export const IS_EXHAUSTED = `(i.resolved_at IS NULL AND i.state = 'alerting' AND i.exhausted_at IS NOT NULL
  AND (jsonb_typeof(p.plan->'fallback') IS DISTINCT FROM 'object' OR coalesce((i.sequences->>'isFallbackUsed')::boolean, false)))`

/** Counts open incidents that have nothing left to send. */
export async function countExhaustedIncidents(db: Knex): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM incidents i LEFT JOIN alert_policies p ON p.id = i.policy_id WHERE ${IS_EXHAUSTED}`,
  )
  return row?.count ?? 0
}

const OPEN_INCIDENTS_COLUMNS = columns<{ state: string; count: number }>({ state: 't.state', count: 'count(i.id)' })

export async function countOpenIncidents(db: Knex): Promise<{ state: string; count: number }[]> {
  return await query(
    db,
    typed`SELECT ${OPEN_INCIDENTS_COLUMNS} FROM unnest(ARRAY['waiting', 'alerting', 'acknowledged']) AS t(state)
     LEFT JOIN incidents i ON i.state = t.state AND i.resolved_at IS NULL GROUP BY t.state`,
  )
}
