import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Act } from './act-store.ts'
import type { ActedIncident } from './decide-act.ts'
import type { Suppression } from './incident.ts'

interface Merged {
  id: string
  since: number
  leadId: string
  name: string
}

const MERGED_COLUMNS = columns<Merged>()(`m.id, ${microsOf('m.merged_at')} AS since, lead.id AS leadId, c.name`)

/** Returns the suppression of each incident whose lead is open. */
export async function mergedSuppressions(tx: Knex, incidentIds: readonly string[]): Promise<Map<string, Suppression>> {
  if (incidentIds.length === 0) return new Map()
  const rows = await query(
    tx,
    typed`SELECT ${MERGED_COLUMNS} FROM incidents m
       JOIN incidents lead ON lead.id = m.lead_id AND lead.resolved_at IS NULL JOIN checks c ON c.id = lead.check_id
     WHERE m.id = ANY(?::uuid[])`,
    [incidentIds],
  )
  return new Map(
    rows.map(({ id, since, leadId, name }) => {
      return [id, { reason: 'MERGED', since, until: null, detail: { incident: leadId, name } }]
    }),
  )
}

const ID_OF_OPEN = columns<{ id: string }>()('id')

/** Call it before the check is deleted or moved: afterwards the members of its incident would have no lead. */
export async function promoteMembersOfCheck(tx: Knex, checkId: number): Promise<void> {
  const open = await query(
    tx,
    typed`SELECT ${ID_OF_OPEN} FROM incidents WHERE check_id = ? AND resolved_at IS NULL FOR UPDATE`,
    [checkId],
  )
  await promoteMembers(
    tx,
    open.map(({ id }) => id),
  )
}

/**
 * The oldest open member of each resolved incident becomes the lead of the others. They are due at once. The members are
 * locked first, because another transaction may resolve one at the same time.
 */
export async function promoteMembers(tx: Knex, resolvedIds: readonly string[]): Promise<void> {
  if (resolvedIds.length === 0) return
  await execute(
    tx,
    `WITH open AS (
       SELECT id, n, lead_id FROM incidents WHERE lead_id = ANY(?::uuid[]) AND resolved_at IS NULL ORDER BY n FOR UPDATE),
     heir AS (SELECT lead_id AS old, (array_agg(id ORDER BY n))[1] AS id FROM open GROUP BY lead_id)
     UPDATE incidents i SET lead_id = CASE WHEN i.id = heir.id THEN NULL ELSE heir.id END, next_at = now()
     FROM heir WHERE i.lead_id = heir.old AND i.resolved_at IS NULL`,
    [resolvedIds],
  )
}

/** Locks incidents and the members of the first in the order of the alerter, so that two writers cannot deadlock. */
export async function lockForMerge(tx: Knex, projectId: number, [id, into]: readonly [string, string]): Promise<void> {
  await execute(
    tx,
    `SELECT FROM incidents WHERE project_id = ? AND (id IN (?::uuid, ?::uuid) OR (lead_id = ?::uuid AND resolved_at IS NULL))
     ORDER BY n FOR UPDATE`,
    [projectId, id, into, id],
  )
}

/** The caller has locked both. Members of the incident follow it. */
export async function mergeInto(tx: Knex, id: string, leadId: string): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET lead_id = ?::uuid, merged_at = now(), next_at = now()
     WHERE (id = ?::uuid OR lead_id = ?::uuid) AND resolved_at IS NULL`,
    [leadId, id, id],
  )
}

export async function separate(tx: Knex, id: string): Promise<void> {
  await execute(tx, 'UPDATE incidents SET lead_id = NULL, merged_at = NULL, next_at = now() WHERE id = ?::uuid', [id])
}

export async function countOpenMembers(tx: Knex, ids: readonly string[]): Promise<number> {
  const [row] = await query<{ count: number }>(
    tx,
    'SELECT count(*) AS count FROM incidents WHERE lead_id = ANY(?::uuid[]) AND resolved_at IS NULL',
    [ids],
  )
  return row?.count ?? 0
}

/** Gives all open members the acknowledgement of their lead, or removes theirs. They are due at once. */
export async function saveActedMembers(tx: Knex, leadId: string, { ack }: ActedIncident): Promise<void> {
  await execute(
    tx,
    `UPDATE incidents SET ack_at = ${timestampOf('?::bigint')}, ack_by = ?, ack_via = ?,
       ack_until = ${timestampOf('?::bigint')}, is_snoozed = ?, next_at = now(),
       state = CASE WHEN ? THEN 'acknowledged' WHEN alert_at IS NULL THEN 'waiting' ELSE 'alerting' END
     WHERE lead_id = ?::uuid AND resolved_at IS NULL`,
    [
      ack?.at ?? null,
      ack?.by ?? null,
      ack?.via ?? null,
      ack?.until ?? null,
      ack?.isSnooze ?? false,
      ack !== null,
      leadId,
    ],
  )
}

export async function assignMembers(tx: Knex, leadId: string, assignee: string | null): Promise<void> {
  await execute(tx, 'UPDATE incidents SET assignee = ? WHERE lead_id = ?::uuid AND resolved_at IS NULL', [
    assignee,
    leadId,
  ])
}

export async function insertMemberActs(
  tx: Knex,
  leadId: string,
  { kind, by, via, text, until = null }: Act,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO incident_events (incident_id, kind, actor_name, via, text, until_at)
     SELECT id, ?, ?, ?, ?, ${timestampOf('?::bigint')} FROM incidents
     WHERE lead_id = ?::uuid AND resolved_at IS NULL ORDER BY id`,
    [kind, by, via, text, until, leadId],
  )
}

interface Suggested {
  id: string
  /** of the check, or its uuid */
  name: string
}

const SUGGESTED_COLUMNS = columns<Suggested>()(`i.id, coalesce(nullif(c.name, ''), c.uuid::text) AS name`)

/** Open incidents of the project that began within five minutes of this one, or whose check shares a parent. */
export async function suggestedMerges(
  db: Knex,
  projectId: number,
  { id, limit }: { id: string; limit: number },
): Promise<Suggested[]> {
  return await query(
    db,
    typed`SELECT ${SUGGESTED_COLUMNS} FROM incidents i JOIN incidents own ON own.id = ?::uuid
       JOIN checks c ON c.id = i.check_id
     WHERE i.project_id = ? AND i.id <> own.id AND i.resolved_at IS NULL AND i.lead_id IS NULL
       AND (i.down_at BETWEEN own.down_at - interval '5 minutes' AND own.down_at + interval '5 minutes'
            OR EXISTS (SELECT FROM check_rules mine JOIN check_rules theirs ON theirs.check_id = i.check_id
                       CROSS JOIN LATERAL jsonb_array_elements(mine.parents) parent
                       WHERE mine.check_id = own.check_id AND theirs.parents @> jsonb_build_array(parent.value)))
     ORDER BY i.n LIMIT ?`,
    [id, projectId, limit],
  )
}
