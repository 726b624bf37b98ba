import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'

/** Longer than a message usually waits for a notifier: the sweeper sends another only after it. */
export const QUEUED = '60 seconds'

/** @returns the ids of the new notifications; a channel that has one for this flip already gets no second */
export async function insertNotifications(
  tx: Knex,
  notified: { flipId: number | null; checkId: number | null; status: 'up' | 'down' },
  channelIds: readonly number[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `INSERT INTO notifications (id, channel_id, check_id, flip_id, check_status, next_attempt_at, queued_until)
     SELECT id, channel_id, ?::bigint, ?::bigint, ?, now(), now() + ?::interval
     FROM unnest(?::uuid[], ?::bigint[]) AS t(id, channel_id)
     ON CONFLICT (flip_id, channel_id) WHERE flip_id IS NOT NULL DO NOTHING RETURNING id`,
    [notified.checkId, notified.flipId, notified.status, QUEUED, channelIds.map(() => randomUUID()), channelIds],
  )
  return rows.map(({ id }) => id)
}

/** Marks due notifications as queued again, some at a time. @returns their ids; several sweepers never take the same */
export async function takeDueNotifications(db: Knex, limit: number): Promise<string[]> {
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

/** Seconds for which the longest-waiting notification has been due; 0 when none is. */
export async function oldestDueNotification(db: Knex): Promise<number> {
  const [row] = await query<{ age: number | null }>(
    db,
    `SELECT extract(epoch FROM now() - min(next_attempt_at))::float AS age FROM notifications WHERE state = 'pending'`,
  )
  return Math.max(0, row?.age ?? 0)
}
