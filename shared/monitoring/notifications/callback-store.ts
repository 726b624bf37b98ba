import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { reevaluateIncidentsOf } from './store.ts'

export interface LateFailure {
  notificationId: string
  error: string
  /** the recipient is permanently invalid */
  disables: boolean
  withinHours: number
  kinds: readonly string[]
  /** if true, a message that has already failed is left unchanged */
  isOnce: boolean
}

/**
 * The notification changes from delivered to failed, and its incident is evaluated again, because the next escalation
 * step may be due. Locks as in recordAttempts: integration, incident, notification. Returns if the message exists,
 * and if this disabled its integration.
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

const FAILED_COLUMNS = columns<{ id: string; integrationId: number; error: string }>()(`
  n.id, n.integration_id, n.error`)

export async function disabledBy(
  db: Knex,
  notificationId: string,
): Promise<{ id: string; integrationId: number; error: string } | null> {
  const [found] = await query(
    db,
    typed`SELECT ${FAILED_COLUMNS} FROM notifications n JOIN integrations c ON c.id = n.integration_id
     WHERE n.id = ?::uuid AND c.disabled_at IS NOT NULL`,
    [notificationId],
  )
  return found ?? null
}
