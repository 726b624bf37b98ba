import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { execute, query } from '../../platform/database/sql.ts'

/** What a provider said of a message after it had taken it. */
export interface LateFailure {
  notificationId: string
  error: string
  /** the recipient is none for good */
  disables: boolean
  /** older messages are left as they are */
  withinHours: number
}

/**
 * Stores that a message did not arrive after all: its error, and its integration's. A telling that was taken for
 * delivered has failed then, and its incident is looked at again, since the next step may have to speak. Locks are taken
 * as when attempts are recorded: integration, incident, notification.
 * @returns whether there is such a message
 */
export async function recordLateFailure(db: Knex, failure: LateFailure): Promise<boolean> {
  const { notificationId: id, error, disables, withinHours } = failure
  return await transaction(db, async (tx) => {
    const [found] = await query<{ channelId: number; incidentId: string | null }>(
      tx,
      `SELECT channel_id AS "channelId", incident_id AS "incidentId" FROM notifications
       WHERE id = ?::uuid AND created_at >= now() - make_interval(hours => ?::int)`,
      [id, withinHours],
    )
    if (!found) return false
    await execute(
      tx,
      `UPDATE channels SET last_error = ?,
         disabled_at = CASE WHEN ? THEN coalesce(disabled_at, now()) ELSE disabled_at END WHERE id = ?`,
      [error, disables, found.channelId],
    )
    await execute(
      tx,
      'UPDATE incidents SET next_at = now() WHERE id = ?::uuid AND resolved_at IS NULL AND NOT is_direct',
      [found.incidentId],
    )
    await execute(
      tx,
      `UPDATE notifications SET error = ?, state = CASE state WHEN 'delivered' THEN 'failed' ELSE state END
       WHERE id = ?::uuid`,
      [error, id],
    )
    return true
  })
}
