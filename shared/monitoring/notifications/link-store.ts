import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { LinkedIncident, LinkedNotification, NotifiedName } from './link-rules.ts'

const LINKED_NOTIFICATION_COLUMNS = columns<LinkedNotification>()(`
  n.id, coalesce(nullif(c.name, ''), c.kind) AS integrationName, c.project_id, p.organisation_id`)

export async function findLinkedNotification(db: Knex, digest: Buffer): Promise<LinkedNotification | null> {
  const [found] = await query(
    db,
    typed`SELECT ${LINKED_NOTIFICATION_COLUMNS} FROM notifications n
     JOIN integrations c ON c.id = n.integration_id JOIN projects p ON p.id = c.project_id WHERE n.link_digest = ?`,
    [digest],
  )
  return found ?? null
}

const LINKED_INCIDENT_COLUMNS = columns<LinkedIncident>()(`
  i.id, c.name, c.tz, i.state, i.severity, i.suppression, ${microsOf('i.down_at')} AS downAt,
  ${microsOf('i.resolved_at')} AS resolvedAt, ${microsOf('i.ack_at')} AS ackAt, i.ack_by, i.ack_via,
  ${microsOf('i.ack_until')} AS ackUntil, coalesce(flip.reason, '') AS reason, ping.exit_status`)

const LAST_FLIP = `SELECT f.reason FROM flips f WHERE f.check_id = i.check_id AND f.to_status = 'down'
  AND f.at <= coalesce(i.resolved_at, now()) ORDER BY f.id DESC LIMIT 1`
const LAST_FAILURE = `SELECT p.exit_status FROM pings p WHERE p.check_id = i.check_id AND p.type = 'fail'
  AND p.at <= coalesce(i.resolved_at, now()) ORDER BY p.n DESC LIMIT 1`

/** Returns the incidents of a notification, open ones first. A bundle may have many. */
export async function linkedIncidents(db: Knex, { id, projectId }: LinkedNotification): Promise<LinkedIncident[]> {
  return await query(
    db,
    typed`WITH linked AS (
       SELECT incident_id AS id FROM notifications WHERE id = ?::uuid
       UNION
       SELECT m.incident_id FROM notifications n
         JOIN notification_bundle_members m ON m.bundle_id = n.bundle_id AND m.integration_id = n.integration_id AND m.included
       WHERE n.id = ?::uuid)
     SELECT ${LINKED_INCIDENT_COLUMNS} FROM linked JOIN incidents i ON i.id = linked.id JOIN checks c ON c.id = i.check_id
     LEFT JOIN LATERAL (${LAST_FLIP}) flip ON true LEFT JOIN LATERAL (${LAST_FAILURE}) ping ON true
     WHERE i.project_id = ? ORDER BY i.resolved_at IS NOT NULL, i.n`,
    [id, id, projectId],
  )
}

const NOTIFIED_NAME_COLUMNS = columns<NotifiedName>()(`t.name, t.state`)

/** Returns the integrations that were notified of an incident, each with its newest message. */
export async function notifiedOfIncident(db: Knex, incidentId: string, limit: number): Promise<NotifiedName[]> {
  return await query(
    db,
    typed`SELECT ${NOTIFIED_NAME_COLUMNS} FROM (
       SELECT DISTINCT ON (c.id) c.id, coalesce(nullif(c.name, ''), c.kind) AS name, n.state
       FROM notifications n JOIN integrations c ON c.id = n.integration_id
       WHERE n.incident_id = ?::uuid AND n.check_status = 'down' ORDER BY c.id, n.created_at DESC) t
     ORDER BY t.id LIMIT ?`,
    [incidentId, limit],
  )
}
