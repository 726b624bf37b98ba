import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import { IS_EXHAUSTED } from '../alerting/incident-store.ts'
import type { ContactKind } from '../contacts/contact-kinds.ts'
import { personName } from '../contacts/person-store.ts'
import type { LinkedIncident, LinkedNotification, NotifiedName } from './link-rules.ts'

interface LinkRow {
  id: string
  integrationName: string | null
  userId: number | null
  email: string | null
  kind: ContactKind | null
  tz: string | null
}

const LINK_COLUMNS = columns<LinkRow>()(`
  n.id, coalesce(nullif(c.name, ''), c.kind) AS integrationName, n.user_id, u.email, n.method_kind AS kind, r.tz`)

export async function findLinkedNotification(db: Knex, digest: Buffer): Promise<LinkedNotification | null> {
  const [found] = await query(
    db,
    typed`SELECT ${LINK_COLUMNS} FROM notifications n LEFT JOIN integrations c ON c.id = n.integration_id
     LEFT JOIN users u ON u.id = n.user_id LEFT JOIN user_reports r ON r.user_id = u.id WHERE n.link_digest = ?`,
    [digest],
  )
  if (!found) return null
  const { id, integrationName, userId, email, kind, tz } = found
  if (userId === null || email === null || kind === null)
    return { id, tz: null, holder: { userId: null, integrationName: integrationName ?? '' } }
  return { id, tz, holder: { userId, email, kind } }
}

const LINKED_INCIDENT_COLUMNS = columns<LinkedIncident>()(`
  i.id, i.project_id, o.organisation_id, c.name, c.tz, i.state, i.severity, i.suppression, ${IS_EXHAUSTED} AS isExhausted,
  ${microsOf('i.down_at')} AS downAt,
  ${microsOf('i.resolved_at')} AS resolvedAt, ${microsOf('i.ack_at')} AS ackAt, i.ack_by, i.ack_via,
  ${personName('i.ack_by', 'i.project_id')} AS ackName,
  ${microsOf('i.ack_until')} AS ackUntil, coalesce(flip.reason, '') AS reason, ping.exit_status`)

const LAST_FLIP = `SELECT f.reason FROM flips f WHERE f.check_id = i.check_id AND f.to_status = 'down'
  AND f.at <= coalesce(i.resolved_at, now()) ORDER BY f.id DESC LIMIT 1`
const LAST_FAILURE = `SELECT p.exit_status FROM pings p WHERE p.check_id = i.check_id AND p.type = 'fail'
  AND p.at <= coalesce(i.resolved_at, now()) ORDER BY p.n DESC LIMIT 1`

/** Returns the incidents of a message, open ones first. A person must still be a member of their organisation. */
export async function linkedIncidents(db: Knex, { id, holder }: LinkedNotification): Promise<LinkedIncident[]> {
  return await query(
    db,
    typed`WITH linked AS (
       SELECT incident_id AS id FROM notifications WHERE id = ?::uuid OR leader_id = ?::uuid
       UNION
       SELECT m.incident_id FROM notifications n
         JOIN notification_bundle_members m ON m.bundle_id = n.bundle_id AND m.integration_id = n.integration_id AND m.included
       WHERE n.id = ?::uuid)
     SELECT ${LINKED_INCIDENT_COLUMNS} FROM linked JOIN incidents i ON i.id = linked.id JOIN checks c ON c.id = i.check_id
     JOIN projects o ON o.id = i.project_id LEFT JOIN alert_policies p ON p.id = i.policy_id
     LEFT JOIN LATERAL (${LAST_FLIP}) flip ON true LEFT JOIN LATERAL (${LAST_FAILURE}) ping ON true
     WHERE ?::bigint IS NULL OR EXISTS (
       SELECT FROM memberships m WHERE m.organisation_id = o.organisation_id AND m.user_id = ?)
     ORDER BY i.resolved_at IS NOT NULL, i.n`,
    [id, id, id, holder.userId, holder.userId],
  )
}

const NOTIFIED_NAME_COLUMNS = columns<NotifiedName>()(`t.name, t.state`)

/** Returns the integrations and persons that were notified of an incident, each with its newest message. */
export async function notifiedOfIncident(db: Knex, incidentId: string, limit: number): Promise<NotifiedName[]> {
  return await query(
    db,
    typed`SELECT ${NOTIFIED_NAME_COLUMNS} FROM (
       SELECT DISTINCT ON (c.id, u.id) c.id, u.id AS person,
         coalesce(nullif(c.name, ''), c.kind, nullif(u.name, ''), u.email) AS name, n.state
       FROM notifications n LEFT JOIN integrations c ON c.id = n.integration_id LEFT JOIN users u ON u.id = n.user_id
       WHERE n.incident_id = ?::uuid AND n.check_status = 'down' AND n.what <> 'ack'
       ORDER BY c.id, u.id, n.created_at DESC) t
     ORDER BY t.id, t.person LIMIT ?`,
    [incidentId, limit],
  )
}
