import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { OutboxRow } from '../../platform/broker/outbox-store.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { AlertNotification, NewNotification } from './incident.ts'
import { insertNotifications } from './notification-store.ts'

/** Limit of single messages per integration in flight (docs/spec/alerting.md#policies); further ones wait. */
const MAX_IN_FLIGHT = 500

/** Only one alerter creates them at a time; what it skips is created a second later. */
const LOCK = 5_217_006

export interface PendingNotification {
  incidentId: string
  notification: Pick<NewNotification, 'integrationId' | 'what' | 'entry' | 'detail'>
}

export async function queueNotifications(tx: Knex, notifications: readonly PendingNotification[]): Promise<void> {
  if (notifications.length === 0) return
  const rows = notifications.map(({ incidentId, notification: { integrationId, what, entry, detail } }) => {
    return { id: randomUUID(), integrationId, incidentId, what, entry, detail }
  })
  await execute(
    tx,
    `INSERT INTO pending_notifications (id, integration_id, incident_id, what, entry, detail)
     SELECT id, "integrationId", "incidentId", what, entry, detail
     FROM json_to_recordset(?::json) AS t(id uuid, "integrationId" bigint, "incidentId" uuid, what text, entry integer,
       detail jsonb) ON CONFLICT DO NOTHING`,
    [JSON.stringify(rows)],
  )
}

const PENDING_NOTIFICATIONS_COLUMNS = columns<AlertNotification & { incidentId: string }>()(`
  id, incident_id, integration_id, what, 'down' AS status, (detail->>'step')::integer AS step, 'pending' AS state,
  0 AS attempts, entry, false AS isReplaced`)

/** Returns them as messages without an attempt. */
export async function lockPendingNotifications(
  tx: Knex,
  incidentIds: readonly string[],
): Promise<(AlertNotification & { incidentId: string })[]> {
  if (incidentIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${PENDING_NOTIFICATIONS_COLUMNS}
     FROM pending_notifications WHERE incident_id = ANY(?::uuid[]) AND NOT is_made ORDER BY n FOR UPDATE`,
    [incidentIds],
  )
}

export async function isPendingNotificationDue(db: Knex): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM pending_notifications w WHERE is_made AND ${HAS_ENDED}
     UNION ALL
     SELECT 1 FROM (
       SELECT FROM pending_notifications GROUP BY integration_id
       HAVING bool_or(NOT is_made) AND count(*) FILTER (WHERE is_made) < ${MAX_IN_FLIGHT}) AS roomy
     LIMIT 1`,
  )
  return rows.length > 0
}

const HAS_ENDED = `NOT EXISTS (SELECT 1 FROM notifications n WHERE n.id = w.id AND n.state = 'pending')`

const NEXT_COLUMNS = columns<NextNotification>()(`
  w.id, w.integration_id, w.incident_id, w.what, w.entry, w.detail, i.check_id,
  i.resolved_at IS NULL AND i.state <> 'acknowledged' AS isNews`)

/** Drops those of resolved or acknowledged incidents. Publish the messages after the commit. */
export async function createDueNotifications(tx: Knex): Promise<OutboxRow[]> {
  const [found] = await query<{ mine: boolean }>(
    tx,
    'SELECT CASE WHEN EXISTS (SELECT FROM pending_notifications) THEN pg_try_advisory_xact_lock(?) ELSE false END AS mine',
    [LOCK],
  )
  if (!found?.mine) return []
  await execute(tx, `DELETE FROM pending_notifications w WHERE is_made AND ${HAS_ENDED}`, [])
  // The incidents are locked first, as in the alerter. Locked rows are skipped.
  const next = await query(
    tx,
    typed`SELECT next.* FROM (
       SELECT integration_id, ${MAX_IN_FLIGHT} - count(*) FILTER (WHERE is_made) AS room FROM pending_notifications
       GROUP BY integration_id HAVING bool_or(NOT is_made)) AS queue
     CROSS JOIN LATERAL (
       SELECT ${NEXT_COLUMNS} FROM pending_notifications w JOIN incidents i ON i.id = w.incident_id
       WHERE w.integration_id = queue.integration_id AND NOT w.is_made ORDER BY w.n LIMIT greatest(0, queue.room)
       FOR KEY SHARE OF i SKIP LOCKED FOR UPDATE OF w SKIP LOCKED) AS next`,
  )
  const idsOf = (isNews: boolean) => next.filter((one) => one.isNews === isNews).map(({ id }) => id)
  await execute(tx, 'DELETE FROM pending_notifications WHERE id = ANY(?::uuid[])', [idsOf(false)])
  await execute(tx, 'UPDATE pending_notifications SET is_made = true WHERE id = ANY(?::uuid[])', [idsOf(true)])
  return await insertNotifications(
    tx,
    next
      .filter(({ isNews }) => isNews)
      .map(({ isNews, ...notification }) => ({ ...notification, status: 'down', flipId: null })),
  )
}

type NextNotification = Pick<NewNotification, 'integrationId' | 'what' | 'entry' | 'detail'> & {
  id: string
  incidentId: string
  checkId: number
  isNews: boolean
}
