import type { Knex } from 'knex'
import { execute } from '../../platform/database/sql.ts'

/**
 * Stores an incident, reason, messages and attempts for each flip to down. An integration with an error fails since
 * the current outage began, and delivered before. Returns the number of incidents.
 */
export async function insertDemoIncidents(tx: Knex.Transaction, projectId: number): Promise<number> {
  const incidents = await execute(tx, INCIDENTS, [projectId])
  await execute(tx, DECISIONS, [projectId])
  await execute(tx, MESSAGES, [projectId])
  await execute(tx, ATTEMPTS, [projectId])
  await execute(tx, NOTES, [projectId])
  await execute(tx, LAST_MESSAGES, [projectId])
  return incidents
}

const ENDED = `LEFT JOIN LATERAL (
  SELECT u.id, u.at FROM flips u WHERE u.check_id = f.check_id AND u.id > f.id AND u.to_status = 'up'
  ORDER BY u.id LIMIT 1) ended ON true`

const INCIDENTS = `
  WITH outages AS (
    SELECT gen_random_uuid() AS id, f.check_id, c.project_id, f.at, ended.at AS up_at
    FROM flips f JOIN checks c ON c.id = f.check_id ${ENDED}
    WHERE c.project_id = ? AND f.to_status = 'down')
  INSERT INTO incidents (id, project_id, check_id, state, is_direct, severity, down_at, alert_at, resolved_at,
                         resolution, evaluated_at, previous)
  SELECT id, project_id, check_id, CASE WHEN up_at IS NULL THEN 'alerting' ELSE 'resolved' END, true, 'critical', at, at,
         up_at, CASE WHEN up_at IS NOT NULL THEN 'recovered' END, coalesce(up_at, at),
         lag(id) OVER (PARTITION BY check_id ORDER BY at)
  FROM outages ORDER BY at`

const EXPLAINED_FLIPS = `
  SELECT f.id AS flip_id, f.check_id, i.id AS incident_id, f.at, f.to_status, i.resolved_at,
         CASE f.to_status WHEN 'down' THEN 1 ELSE 2 END AS entry
  FROM incidents i JOIN flips f ON f.check_id = i.check_id AND (
    (f.to_status = 'down' AND f.at = i.down_at) OR (f.to_status = 'up' AND f.at = i.resolved_at))
  WHERE i.project_id = ?`

const DECISIONS = `
  INSERT INTO alert_decisions (check_id, flip_id, incident_id, at, outcome, reason, channels, created_at)
  SELECT notified.check_id, notified.flip_id, notified.incident_id, notified.at, 'notified', 'DIRECT',
         jsonb_agg(jsonb_build_object('id', h.uuid, 'outcome', 'notified', 'reason', 'DIRECT') ORDER BY h.id), notified.at
  FROM (${EXPLAINED_FLIPS}) notified JOIN check_integrations cc ON cc.check_id = notified.check_id JOIN integrations h ON h.id = cc.integration_id
  GROUP BY notified.check_id, notified.flip_id, notified.incident_id, notified.at ORDER BY notified.at`

const MESSAGES = `
  INSERT INTO notifications (id, integration_id, check_id, flip_id, incident_id, check_status, state, error, attempts,
                             created_at, finished_at, entry)
  SELECT gen_random_uuid(), h.id, notified.check_id, notified.flip_id, notified.incident_id, notified.to_status,
         CASE WHEN lost THEN 'failed' ELSE 'delivered' END, CASE WHEN lost THEN h.last_error ELSE '' END,
         CASE WHEN lost THEN 3 ELSE 1 END, notified.at,
         notified.at + CASE WHEN lost THEN interval '5 minutes' ELSE interval '0.4 seconds' END, notified.entry
  FROM (${EXPLAINED_FLIPS}) notified JOIN check_integrations cc ON cc.check_id = notified.check_id JOIN integrations h ON h.id = cc.integration_id
  CROSS JOIN LATERAL (SELECT h.last_error <> '' AND notified.resolved_at IS NULL AS lost) its`

const ATTEMPTS = `
  INSERT INTO notification_attempts (notification_id, n, started_at, duration_ms, outcome, status_code, error)
  SELECT m.id, n, m.created_at + interval '0.1 seconds' + (n - 1) * interval '148 seconds', 90 + m.flip_id * 37 % 400,
         CASE WHEN m.error = '' THEN 'delivered' ELSE 'temporary' END, CASE WHEN m.error <> '' THEN 500 END, m.error
  FROM notifications m JOIN checks c ON c.id = m.check_id CROSS JOIN LATERAL generate_series(1, m.attempts) n
  WHERE c.project_id = ?`

const LAST_MESSAGES = `
  UPDATE integrations SET last_notify_at = sent.at
  FROM (SELECT integration_id, max(finished_at) AS at FROM notifications GROUP BY integration_id) sent
  WHERE sent.integration_id = integrations.id AND integrations.project_id = ?`

const NOTES = `
  INSERT INTO incident_events (incident_id, at, kind, actor_name, via, text)
  SELECT id, down_at + interval '4 minutes', 'note', 'On-call', 'page', 'The disk was full: old logs are removed.'
  FROM incidents WHERE project_id = ? AND n % 4 = 0 AND resolved_at > down_at + interval '4 minutes'`
