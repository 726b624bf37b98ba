import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, type SqlValue, typed } from '../../platform/database/sql.ts'
import { type IncidentFilter, type LastNotification, LISTED_STATES } from './incident-list.ts'
import type { ShownIncident } from './incident-page-view.ts'
import { INCIDENTS } from './incident-read-store.ts'

/** `listedState` in SQL. */
const LISTED_STATE = `CASE WHEN i.resolved_at IS NOT NULL THEN 'resolved' WHEN i.state = 'acknowledged' THEN 'acknowledged'
  WHEN i.suppression IS NULL THEN 'alerting' ELSE 'suppressed' END`
const RANK = `array_position(ARRAY[${LISTED_STATES.map((state) => `'${state}'`).join(', ')}], ${LISTED_STATE})`

/** Newest first. */
export async function listIncidents(
  db: Knex,
  projectId: number,
  filter: IncidentFilter,
  limit: number,
): Promise<ShownIncident[]> {
  const { sql, values } = conditions(projectId, filter)
  return await query(db, typed`${INCIDENTS} WHERE ${sql} ORDER BY i.n DESC LIMIT ?`, [...values, limit])
}

/** Last row of the page before. */
export interface StateCursor {
  rank: number
  n: number
}

const RANKS_COLUMNS = columns<{ id: string; rank: number }>({ id: 'i.id', rank: RANK })

/** By state in the order of LISTED_STATES, newest first in each. */
export async function listIncidentsByState(
  db: Knex,
  projectId: number,
  filter: IncidentFilter,
  { after, limit }: { after: StateCursor | null; limit: number },
): Promise<(ShownIncident & { rank: number })[]> {
  const { sql, values } = conditions(projectId, filter)
  const ranked = await query(
    db,
    typed`SELECT ${RANKS_COLUMNS} FROM incidents i JOIN checks c ON c.id = i.check_id
     WHERE ${sql} AND (?::integer IS NULL OR (${RANK}, -i.n) > (?::integer, ?::bigint))
     ORDER BY ${RANK}, i.n DESC LIMIT ?`,
    [...values, after?.rank ?? null, after?.rank ?? null, after === null ? null : -after.n, limit],
  )
  const rows = await query(db, typed`${INCIDENTS} WHERE i.id = ANY(?::uuid[])`, [ranked.map(({ id }) => id)])
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ranked.flatMap(({ id, rank }) => {
    const row = byId.get(id)
    return row ? [{ ...row, rank }] : []
  })
}

/** Counts at most `limit` incidents. */
export async function countIncidents(
  db: Knex,
  projectId: number,
  filter: IncidentFilter,
  limit: number,
): Promise<number> {
  const { sql, values } = conditions(projectId, filter)
  const [row] = await query<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM incidents i JOIN checks c ON c.id = i.check_id WHERE ${sql} LIMIT ?) found`,
    [...values, limit],
  )
  return row?.count ?? 0
}

function conditions(projectId: number, filter: IncidentFilter): { sql: string; values: SqlValue[] } {
  const parts = ['i.project_id = ?']
  const values: SqlValue[] = [projectId]
  const add = (sql: string, ...more: SqlValue[]) => {
    parts.push(sql)
    values.push(...more)
  }
  const { state, checkId, tag, severity, policy, person, lead, q, from, before, beforeN } = filter
  if (state === 'open') add('i.resolved_at IS NULL')
  else if (state === 'resolved') add('i.resolved_at IS NOT NULL')
  else if (state !== null) add(`i.resolved_at IS NULL AND ${LISTED_STATE} = ?`, state)
  if (checkId !== null) add('i.check_id = ?', checkId)
  if (tag !== null) add(`? = ANY(string_to_array(c.tags, ' '))`, tag)
  if (severity !== null) add('i.severity = ?', severity)
  if (policy !== null)
    add('i.policy_id = (SELECT id FROM alert_policies WHERE uuid = ?::uuid AND project_id = ?)', policy, projectId)
  if (person !== null) add(PERSON, person, person, person)
  if (lead !== null) add('i.lead_id = ?::uuid', lead)
  if (q !== null) add('c.name ILIKE ?', `%${q.replace(/[\\%_]/g, '\\$&')}%`)
  if (from !== null) add(`i.down_at >= ${timestampOf('?::bigint')}`, from)
  if (before !== null) add(`i.down_at < ${timestampOf('?::bigint')}`, before)
  if (beforeN !== null) add('i.n < ?', beforeN)
  return { sql: parts.join(' AND '), values }
}

const PERSON = `(lower(i.assignee) = lower(?) OR lower(i.ack_by) = lower(?) OR EXISTS (
  SELECT FROM incident_events e WHERE e.incident_id = i.id AND e.kind IN ('ack', 'take', 'snooze') AND lower(e.actor_name) = lower(?)))`

const LAST_NOTIFICATION_COLUMNS = columns<LastNotification>()(`
  last.incident_id, last.at, coalesce(nullif(g.name, ''), g.kind, nullif(u.name, ''), u.email) AS name, last.state,
  last.error`)

/** Includes digests that named the incident. */
export async function lastNotifications(
  db: Knex,
  incidentIds: readonly string[],
): Promise<Map<string, LastNotification>> {
  if (incidentIds.length === 0) return new Map()
  const rows = await query(
    db,
    typed`SELECT ${LAST_NOTIFICATION_COLUMNS} FROM (
       SELECT DISTINCT ON (t.incident_id) t.incident_id, ${microsOf('t.created_at')} AS at, t.state, t.error, t.integration_id, t.user_id
       FROM (
         SELECT incident_id, created_at, state, error, integration_id, user_id FROM notifications WHERE incident_id = ANY(?::uuid[])
         UNION ALL
         SELECT m.incident_id, n.created_at, n.state, n.error, n.integration_id, n.user_id
         FROM notification_bundle_members m JOIN notifications n ON n.bundle_id = m.bundle_id AND n.integration_id = m.integration_id
         WHERE m.incident_id = ANY(?::uuid[]) AND m.included) t
       ORDER BY t.incident_id, t.created_at DESC) last
     LEFT JOIN integrations g ON g.id = last.integration_id LEFT JOIN users u ON u.id = last.user_id`,
    [incidentIds, incidentIds],
  )
  return new Map(rows.map((row) => [row.incidentId, row]))
}
