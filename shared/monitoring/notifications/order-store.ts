import type { Knex } from 'knex'
import { notificationDue } from '../../contracts/worker-messages.ts'
import { OUTBOX_ROW_COLUMNS, type OutboxRow, RESEND_AFTER } from '../../platform/broker/outbox-store.ts'
import { execute, query, typed } from '../../platform/database/sql.ts'
import type { ClaimedForIntegration, ClaimedNotification } from './attempt-store.ts'
import { QUEUED } from './store.ts'

/**
 * Abandons an older message of the same check and integration that failed so far. One that was never tried, or is in
 * progress, goes first. Returns true if the newer one may be sent now.
 */
export async function supersedeOlder(db: Knex, claimed: ClaimedForIntegration): Promise<boolean> {
  const { id, checkId, integrationId } = claimed
  if (claimed.what === 'digest') return await supersedeDigests(db, claimed)
  const older = `older.check_id = ? AND older.integration_id = ? AND older.state = 'pending' AND older.what <> 'test'
    AND older.created_at < (SELECT created_at FROM notifications WHERE id = ?)`
  await execute(
    db,
    `UPDATE notifications older SET state = 'suppressed', error = 'Superseded', finished_at = now(), queued_until = NULL
     WHERE ${older} AND older.attempts > 0 AND (older.lease_until IS NULL OR older.lease_until < now())`,
    [checkId, integrationId, id],
  )
  const left = await query(db, `SELECT 1 FROM notifications older WHERE ${older} LIMIT 1`, [checkId, integrationId, id])
  return left.length === 0
}

/** An older digest is withdrawn if all of its incidents are over. */
async function supersedeDigests(db: Knex, { id, integrationId }: ClaimedForIntegration): Promise<boolean> {
  const older = `older.what = 'digest' AND older.integration_id = ? AND older.state = 'pending'
    AND older.created_at < (SELECT created_at FROM notifications WHERE id = ?)`
  await execute(
    db,
    `UPDATE notifications older SET state = 'suppressed', error = 'Superseded', finished_at = now(), queued_until = NULL
     WHERE ${older} AND older.attempts > 0 AND (older.lease_until IS NULL OR older.lease_until < now())
       AND NOT EXISTS (
         SELECT 1 FROM notification_bundle_members m JOIN incidents i ON i.id = m.incident_id
         WHERE m.bundle_id = older.bundle_id AND m.integration_id = older.integration_id AND i.resolved_at IS NULL)`,
    [integrationId, id],
  )
  return (await query(db, `SELECT 1 FROM notifications older WHERE ${older} LIMIT 1`, [integrationId, id])).length === 0
}

/** Messages that waited for the ended attempts of their check become due. Publish the returned messages. */
export async function requeueWaiting(
  db: Knex,
  ended: readonly { checkId: number; integrationId: number }[],
): Promise<OutboxRow[]> {
  return await query(
    db,
    typed`WITH woken AS (
       UPDATE notifications SET next_attempt_at = now(), queued_until = now() + ?::interval
       WHERE id IN (
         SELECT n.id FROM unnest(?::bigint[], ?::bigint[]) AS t(check_id, integration_id)
         JOIN notifications n ON n.check_id = t.check_id AND n.integration_id = t.integration_id
         WHERE n.state = 'pending' AND n.attempts = 0 AND n.queued_until IS NULL AND n.lease_until IS NULL
         ORDER BY n.id FOR NO KEY UPDATE OF n SKIP LOCKED)
       RETURNING id)
     INSERT INTO outbox (message_id, message, payload, resend_at)
     SELECT gen_random_uuid(), ?, jsonb_build_object('notificationId', id), now() + ?::interval FROM woken
     RETURNING ${OUTBOX_ROW_COLUMNS}`,
    [
      QUEUED,
      ended.map(({ checkId }) => checkId),
      ended.map(({ integrationId }) => integrationId),
      notificationDue.name,
      RESEND_AFTER,
    ],
  )
}

export async function withdrawClaimed(db: Knex, { id, attempt }: ClaimedNotification): Promise<void> {
  await execute(
    db,
    `UPDATE notifications SET state = 'suppressed', error = 'Superseded', attempts = attempts - 1, lease_until = NULL,
       queued_until = NULL, finished_at = now()
     WHERE id = ? AND state = 'pending' AND attempts = ?`,
    [id, attempt],
  )
}
