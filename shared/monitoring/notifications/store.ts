import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'

/** Longer than a message usually waits for a notifier; the sweeper sends another only after it. */
export const QUEUED = '60 seconds'

/** A failed notification may start the next step. `ids` is a condition on notification ids. */
export const reevaluateIncidentsOf = (ids: string) => `
  UPDATE incidents SET next_at = now() WHERE id IN (
    SELECT id FROM incidents
    WHERE resolved_at IS NULL AND NOT is_direct AND id IN (
      SELECT coalesce(m.incident_id, n.incident_id) FROM notifications n
        LEFT JOIN notification_bundle_members m ON m.bundle_id = n.bundle_id AND m.integration_id = n.integration_id AND m.included
      WHERE n.id ${ids})
    ORDER BY n FOR NO KEY UPDATE)`

export interface Notified {
  flipId: number | null
  checkId: number | null
  status: 'up' | 'down'
  place?: { incidentId: string | null; what: string; entry: number; detail: unknown }
}

/** @returns the ids of the new notifications; an integration that has one for this flip already gets no second */
export async function insertNotifications(
  tx: Knex,
  notified: Notified,
  integrationIds: readonly number[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `INSERT INTO notifications (id, integration_id, check_id, flip_id, check_status, incident_id, what, entry, detail,
       next_attempt_at, queued_until)
     SELECT id, integration_id, ?::bigint, ?::bigint, ?, ?::uuid, ?, ?, ?::jsonb, now(), now() + ?::interval
     FROM unnest(?::uuid[], ?::bigint[]) AS t(id, integration_id)
     ON CONFLICT DO NOTHING RETURNING id`,
    [
      notified.checkId,
      notified.flipId,
      notified.status,
      notified.place?.incidentId ?? null,
      notified.place?.what ?? (notified.flipId === null ? 'test' : 'flip'),
      notified.place?.entry ?? 0,
      notified.place ? JSON.stringify(notified.place.detail) : null,
      QUEUED,
      integrationIds.map(() => randomUUID()),
      integrationIds,
    ],
  )
  return rows.map(({ id }) => id)
}

/** Several sweepers never take the same. */
export async function claimDueNotifications(db: Knex, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `UPDATE notifications SET queued_until = now() + ?::interval
     WHERE id IN (SELECT id FROM notifications
                  WHERE state = 'pending' AND next_attempt_at <= now()
                    AND (queued_until IS NULL OR queued_until < now()) AND (lease_until IS NULL OR lease_until < now())
                  ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [QUEUED, limit],
  )
  return rows.map(({ id }) => id)
}

export async function oldestDueNotification(db: Knex): Promise<number> {
  const [row] = await query<{ age: number | null }>(
    db,
    `SELECT extract(epoch FROM now() - min(next_attempt_at))::float AS age FROM notifications WHERE state = 'pending'`,
  )
  return Math.max(0, row?.age ?? 0)
}
