import type { Knex } from 'knex'
import { timestampOf } from '../../platform/database/instants.ts'
import { execute, query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { ActedIncident } from './decide-act.ts'
import { NO_SEQUENCES } from './sequences.ts'

export interface Act {
  kind: 'ack' | 'unack' | 'snooze' | 'take' | 'assign' | 'escalate' | 'merge' | 'unmerge' | 'note' | 'report'
  by: string
  via: string
  text: string
  /** end of a snooze, or of the wait for a person who is notified of an assignment */
  until?: Micros | null
}

export async function countActs(tx: Knex, incidentId: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    tx,
    'SELECT count(*) AS count FROM incident_events WHERE incident_id = ?::uuid',
    [incidentId],
  )
  return row?.count ?? 0
}

export async function insertAct(
  tx: Knex,
  incidentId: string,
  { kind, by, via, text, until = null }: Act,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO incident_events (incident_id, kind, actor_name, via, text, until_at)
     VALUES (?::uuid, ?, ?, ?, ?, ${timestampOf('?::bigint')})`,
    [incidentId, kind, by, via, text, until],
  )
}

/** The incident is locked by the caller. It is due at once, so that its plan stops or continues now. */
export async function saveActed(
  tx: Knex,
  id: string,
  { state, ack, assignee, isEscalating, reassigned = null }: ActedIncident,
): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET state = ?, ack_at = ${timestampOf('?::bigint')}, ack_by = ?, ack_via = ?,
       ack_until = ${timestampOf('?::bigint')}, is_snoozed = ?, assignee = ?, is_escalating = ?,
       sequences = CASE WHEN ?::text IS NULL THEN sequences
         ELSE coalesce(sequences, ?::jsonb || jsonb_build_object('started', notified)) || jsonb_build_object('reassigned', ?::text) END,
       next_at = CASE WHEN resolved_at IS NULL THEN now() END WHERE id = ?::uuid`,
    [
      state,
      ack?.at ?? null,
      ack?.by ?? null,
      ack?.via ?? null,
      ack?.until ?? null,
      ack?.isSnooze ?? false,
      assignee,
      isEscalating,
      reassigned,
      JSON.stringify(NO_SEQUENCES),
      reassigned,
      id,
    ],
  )
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
