import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { notificationDue } from '../../contracts/worker-messages.ts'
import { OUTBOX_ROW_COLUMNS, type OutboxRow, RESEND_AFTER } from '../../platform/broker/outbox-store.ts'
import { execute, query, typed } from '../../platform/database/sql.ts'
import type { Summary } from '../notifications/notification.ts'
import { QUEUED } from '../notifications/store.ts'
import type { NewNotification } from './incident.ts'

export interface StoredNotification extends NewNotification {
  id?: string
  checkId: number
  incidentId: string | null
}

/** A notification of a person by one contact method. */
export interface PersonalNotification extends Omit<StoredNotification, 'integrationId' | 'flipId' | 'what'> {
  userId: number
  methodId: string
  what: StoredNotification['what'] | 'ack'
  incidentId: string
}

/**
 * Skips a notification that its integration or contact method already got. Publish the messages after the commit. The
 * contact method may be deleted meanwhile; the notification then ends without an attempt.
 */
export async function insertNotifications(
  tx: Knex,
  notifications: readonly (StoredNotification | PersonalNotification)[],
): Promise<OutboxRow[]> {
  if (notifications.length === 0) return []
  return await query(
    tx,
    typed`WITH made AS (
       INSERT INTO notifications (id, integration_id, user_id, method_id, method_kind, check_id, flip_id, check_status,
         incident_id, what, entry, detail, next_attempt_at, queued_until)
       SELECT t.id, "integrationId", "userId", m.id, m.kind, "checkId", "flipId", status, "incidentId", what, entry, detail,
              now(), now() + ?::interval
       FROM json_to_recordset(?::json) AS t(id uuid, "integrationId" bigint, "userId" bigint, "methodId" uuid,
         "checkId" bigint, "flipId" bigint, status text, "incidentId" uuid, what text, entry integer, detail jsonb)
       LEFT JOIN contact_methods m ON m.id = "methodId" AND m.user_id = "userId"
       ON CONFLICT DO NOTHING RETURNING id)
     INSERT INTO outbox (message_id, message, payload, resend_at)
     SELECT gen_random_uuid(), ?, jsonb_build_object('notificationId', id), now() + ?::interval FROM made
     RETURNING ${OUTBOX_ROW_COLUMNS}`,
    [
      QUEUED,
      JSON.stringify(notifications.map((notification) => ({ id: randomUUID(), ...notification }))),
      notificationDue.name,
      RESEND_AFTER,
    ],
  )
}

export interface NewSummary {
  integrationId: number
  what: 'digest' | 'unknown' | 'shift'
  status: 'up' | 'down'
  bundleId: string | null
  summary: Summary
}

/** The caller publishes the returned outbox rows after the commit. */
export async function insertSummaries(tx: Knex, summaries: readonly NewSummary[]): Promise<OutboxRow[]> {
  if (summaries.length === 0) return []
  return await query(
    tx,
    typed`WITH made AS (
       INSERT INTO notifications (id, integration_id, check_status, bundle_id, what, detail, next_attempt_at, queued_until)
       SELECT id, "integrationId", status, "bundleId", what, jsonb_build_object('summary', summary), now(), now() + ?::interval
       FROM json_to_recordset(?::json) AS t(id uuid, "integrationId" bigint, status text, "bundleId" uuid, what text,
         summary jsonb)
       ON CONFLICT DO NOTHING RETURNING id)
     INSERT INTO outbox (message_id, message, payload, resend_at)
     SELECT gen_random_uuid(), ?, jsonb_build_object('notificationId', id), now() + ?::interval FROM made
     RETURNING ${OUTBOX_ROW_COLUMNS}`,
    [
      QUEUED,
      JSON.stringify(summaries.map((summary) => ({ ...summary, id: randomUUID() }))),
      notificationDue.name,
      RESEND_AFTER,
    ],
  )
}

/** A newer message replaces them. Skips messages that a process has started to send. */
export async function withdrawNotifications(tx: Knex, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await execute(
    tx,
    `UPDATE notifications SET state = 'suppressed', error = 'Superseded', finished_at = now(), queued_until = NULL
     WHERE id = ANY(?::uuid[]) AND state = 'pending' AND attempts = 0`,
    [ids],
  )
  await execute(tx, 'DELETE FROM pending_notifications WHERE id = ANY(?::uuid[]) AND NOT is_made', [ids])
}
