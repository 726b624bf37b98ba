import type { Knex } from 'knex'
import { timestampOf } from '../../platform/database/instants.ts'
import { execute, query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

export interface Act {
  kind: 'ack' | 'unack' | 'assign' | 'note' | 'report'
  by: string
  via: string
  text: string
}

export async function countActs(tx: Knex, incidentId: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    tx,
    'SELECT count(*) AS count FROM incident_events WHERE incident_id = ?::uuid',
    [incidentId],
  )
  return row?.count ?? 0
}

export async function insertAct(tx: Knex, incidentId: string, { kind, by, via, text }: Act): Promise<void> {
  await execute(
    tx,
    'INSERT INTO incident_events (incident_id, kind, actor_name, via, text) VALUES (?::uuid, ?, ?, ?, ?)',
    [incidentId, kind, by, via, text],
  )
}

/** The incident is locked by the caller. It is due at once, so that its plan stops now. */
export async function acknowledge(
  tx: Knex,
  id: string,
  ack: { at: Micros; by: string; via: string; until: Micros | null },
): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET state = 'acknowledged', ack_at = ${timestampOf('?::bigint')}, ack_by = ?, ack_via = ?,
       ack_until = ${timestampOf('?::bigint')}, next_at = now() WHERE id = ?::uuid`,
    [ack.at, ack.by, ack.via, ack.until, id],
  )
}

export async function unacknowledge(tx: Knex, id: string): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET state = CASE WHEN alert_at IS NULL THEN 'waiting' ELSE 'alerting' END, ack_at = NULL,
       ack_by = NULL, ack_via = NULL, ack_until = NULL, next_at = now() WHERE id = ?::uuid`,
    [id],
  )
}

export async function setAssignee(tx: Knex, id: string, assignee: string | null): Promise<void> {
  await execute(tx, 'UPDATE incidents SET assignee = ? WHERE id = ?::uuid', [assignee, id])
}

export async function setReport(tx: Knex, id: string, report: string): Promise<void> {
  await execute(tx, 'UPDATE incidents SET report = ? WHERE id = ?::uuid', [report, id])
}

export async function isMember(tx: Knex, organisationId: number, email: string): Promise<boolean> {
  const rows = await query(
    tx,
    `SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
     WHERE m.organisation_id = ? AND lower(u.email) = lower(?)`,
    [organisationId, email],
  )
  return rows.length > 0
}
