import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { personName } from '../contacts/person-store.ts'
import type { ExplainedDecision, ShownDecision, ShownIncident } from './incident-page-view.ts'
import { IS_EXHAUSTED } from './incident-store.ts'

const COLUMNS = columns<ShownIncident>()(`
  i.id, i.n, i.project_id, i.check_id, c.uuid AS checkUuid, c.name, c.tags, i.state, i.severity,
  ${microsOf('i.down_at')} AS downAt,
  ${microsOf('i.alert_at')} AS alertAt, ${microsOf('i.resolved_at')} AS resolvedAt, i.resolution, i.flips, i.failures,
  i.flapping, i.suppression, i.notified, i.skips, i.is_escalating, i.first_step,
  ${microsOf('i.exhausted_at')} AS exhaustedAt, ${IS_EXHAUSTED} AS isExhausted, p.uuid AS policyUuid, i.is_direct,
  i.assignee, ${microsOf('i.ack_at')} AS ackAt, i.ack_by, i.ack_via,
  ${personName('i.ack_by', 'i.project_id')} AS ackName, ${microsOf('i.ack_until')} AS ackUntil, i.is_snoozed, i.lead_id,
  (SELECT count(*) FROM incidents m WHERE m.lead_id = i.id) AS members,
  (p.plan->>'ack_timeout')::integer AS ackTimeout, ${microsOf('i.next_at')} AS nextAt, i.report, i.previous,
  (SELECT greatest(0, extract(epoch FROM min(e.at) - i.down_at))::integer FROM incident_events e
   WHERE e.incident_id = i.id AND e.kind IN ('ack', 'take', 'snooze')) AS ackSeconds,
  (SELECT CASE WHEN e.kind <> 'unack' THEN e.actor_name END FROM incident_events e
   WHERE e.incident_id = i.id AND e.kind IN ('ack', 'take', 'snooze', 'unack') ORDER BY e.id DESC LIMIT 1) AS ackedBy`)

/** `i` is the incident, `c` its check, `p` its policy. */
export const INCIDENTS = typed`
  SELECT ${COLUMNS}
  FROM incidents i JOIN checks c ON c.id = i.check_id LEFT JOIN alert_policies p ON p.id = i.policy_id`

/** `projectId` null means any project; `lock` holds until the transaction ends. */
export async function findIncident(
  db: Knex,
  projectId: number | null,
  id: string,
  { lock = false } = {},
): Promise<ShownIncident | null> {
  const rows = await query(
    db,
    typed`${INCIDENTS} WHERE i.id = ?::uuid AND (?::bigint IS NULL OR i.project_id = ?)${lock ? ' FOR UPDATE OF i' : ''}`,
    [id, projectId, projectId],
  )
  return rows[0] ?? null
}

const SHOWN_DECISION_COLUMNS = columns<ShownDecision>({
  id: 'd.id',
  at: microsOf('d.at'),
  flipAt: microsOf('f.at'),
  flipTo: 'f.to_status',
  incidentId: 'd.incident_id',
  outcome: 'd.outcome',
  reason: 'd.reason',
  detail: 'd.detail',
  until: microsOf('d.until'),
  people: 'd.people',
  channels: `(SELECT coalesce(jsonb_agg(it.value || jsonb_build_object('delivery', (
               SELECT jsonb_build_object('state', n.state, 'error', n.error, 'attempts', n.attempts)
               FROM notifications n JOIN integrations c ON c.id = n.integration_id
               WHERE c.uuid = (it.value->>'id')::uuid
                 AND (n.check_id = d.check_id AND n.created_at = d.created_at
                      OR it.value->>'outcome' = 'notified' AND d.reason <> 'RECOVERY' AND n.incident_id = d.incident_id
                         AND n.what IN ('first', 'repeat') AND n.created_at > d.created_at
                      OR it.value->>'reason' = 'IN_DIGEST' AND n.bundle_id IN (
                        SELECT m.bundle_id FROM notification_bundle_members m JOIN notification_bundles b ON b.id = m.bundle_id
                        WHERE m.incident_id = d.incident_id AND m.integration_id = c.id AND m.included
                          AND b.direction = CASE WHEN d.reason = 'RECOVERY' THEN 'up' ELSE 'down' END))
               ORDER BY n.created_at LIMIT 1))
               ORDER BY it.ordinality), '[]')
             FROM jsonb_array_elements(d.channels) WITH ORDINALITY it)`,
})

/** Newest first. With `flipId`, includes decisions about the incident that the flip began, joined or ended. */
export async function listDecisions(
  db: Knex,
  checkId: number,
  range: { from: Micros | null; before: Micros | null; beforeId: number | null; flipId?: number },
  limit: number,
): Promise<ShownDecision[]> {
  const { from, before, beforeId, flipId = null } = range
  return await query(
    db,
    typed`SELECT ${SHOWN_DECISION_COLUMNS} FROM alert_decisions d LEFT JOIN flips f ON f.id = d.flip_id
     WHERE d.check_id = ?
       AND (?::bigint IS NULL OR d.at >= ${timestampOf('?::bigint')})
       AND (?::bigint IS NULL OR d.at < ${timestampOf('?::bigint')})
       AND (?::bigint IS NULL OR d.id < ?)
       AND (?::bigint IS NULL OR d.flip_id = ? OR d.incident_id IN (
              SELECT incident_id FROM alert_decisions WHERE check_id = d.check_id AND flip_id = ?))
     ORDER BY d.id DESC LIMIT ?`,
    [checkId, from, from, before, before, beforeId, beforeId, flipId, flipId, flipId, limit],
  )
}

const EXPLAINED_DECISION_COLUMNS = columns<ExplainedDecision>()(`
  id, ${microsOf('at')} AS at, flip_id, incident_id, outcome, reason, detail, ${microsOf('until')} AS until, channels`)

/** Returns decisions about the flip and its incident, and later ones without a flip. `until` null means now. */
export async function decisionsSince(
  db: Knex,
  checkId: number,
  flip: { id: number; at: Micros } | null,
  until: Micros | null,
  limit: number,
): Promise<ExplainedDecision[]> {
  const rows = await query(
    db,
    typed`SELECT ${EXPLAINED_DECISION_COLUMNS} FROM alert_decisions
     WHERE check_id = ? AND (?::bigint IS NULL OR at <= ${timestampOf('?::bigint')})
       AND (flip_id = ?
            OR incident_id IN (SELECT incident_id FROM alert_decisions WHERE check_id = ? AND flip_id = ?)
            OR (flip_id IS NULL AND incident_id IS NULL AND (?::bigint IS NULL OR at >= ${timestampOf('?::bigint')})))
     ORDER BY id DESC LIMIT ?`,
    [checkId, until, until, flip?.id ?? null, checkId, flip?.id ?? null, flip?.at ?? null, flip?.at ?? null, limit],
  )
  return rows.reverse()
}
