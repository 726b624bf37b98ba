import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { reevaluateIncidentsOf } from './store.ts'

/** What a provider said of a message after it had taken it. */
export interface LateFailure {
  notificationId: string
  error: string
  /** the recipient is none for good */
  disables: boolean
  /** older messages are left as they are */
  withinHours: number
  /** messages of other kinds are left as they are */
  kinds: readonly string[]
  /** whether a message that has failed already is left as it is */
  isOnce: boolean
}

/**
 * Stores that a message did not arrive after all: its error, and its integration's. A telling that was taken for
 * delivered has failed then, and its incident is looked at again, since the next step may have to speak. Locks are taken
 * as when attempts are recorded: integration, incident, notification.
 * @returns whether there is such a message, and whether it disabled its integration, which was enabled until then
 */
export async function recordLateFailure(
  tx: Knex,
  { notificationId: id, error, disables, withinHours, kinds, isOnce }: LateFailure,
): Promise<{ isKnown: boolean; isDisabledNow: boolean }> {
  const [found] = await query<{ integrationId: number }>(
    tx,
    `SELECT n.integration_id AS "integrationId"
     FROM notifications n JOIN integrations c ON c.id = n.integration_id
     WHERE n.id = ?::uuid AND n.created_at >= now() - make_interval(hours => ?::int) AND c.kind = ANY(?::text[])
       AND NOT (?::boolean AND n.state = 'failed')`,
    [id, withinHours, kinds, isOnce],
  )
  if (!found) return { isKnown: false, isDisabledNow: false }
  const [before] = await query<{ isEnabled: boolean }>(
    tx,
    'SELECT disabled_at IS NULL AS "isEnabled" FROM integrations WHERE id = ? FOR NO KEY UPDATE',
    [found.integrationId],
  )
  await execute(
    tx,
    `UPDATE integrations SET last_error = ?,
       disabled_at = CASE WHEN ? THEN coalesce(disabled_at, now()) ELSE disabled_at END WHERE id = ?`,
    [error, disables, found.integrationId],
  )
  await execute(tx, reevaluateIncidentsOf('= ?::uuid'), [id])
  await execute(
    tx,
    `UPDATE notifications SET error = ?, state = CASE state WHEN 'delivered' THEN 'failed' ELSE state END
     WHERE id = ?::uuid`,
    [error, id],
  )
  return { isKnown: true, isDisabledNow: disables && before?.isEnabled === true }
}

const BY_COLUMNS = columns<{ id: string; integrationId: number; error: string }>({
  id: 'n.id',
  integrationId: 'n.integration_id',
  error: 'n.error',
})

/** The integration of a message and the message's error, for those who are told that it was disabled; null when gone. */
export async function disabledBy(
  db: Knex,
  notificationId: string,
): Promise<{ id: string; integrationId: number; error: string } | null> {
  const [found] = await query(
    db,
    typed`SELECT ${BY_COLUMNS} FROM notifications n JOIN integrations c ON c.id = n.integration_id
     WHERE n.id = ?::uuid AND c.disabled_at IS NOT NULL`,
    [notificationId],
  )
  return found ?? null
}
