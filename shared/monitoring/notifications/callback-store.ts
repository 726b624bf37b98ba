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

const RECIPIENT_COLUMNS = columns<{ recipient: string; isIntegration: boolean }>({
  recipient: 'coalesce(c.id::text, n.method_id::text)',
  isIntegration: 'c.id IS NOT NULL',
})

/**
 * The notifications of a message change from delivered to failed, and their incidents are evaluated again, because the
 * next escalation step may be due. Locks as in recordAttempts: integration or contact method, incident, notification.
 * Returns if the message exists, and if this disabled its integration or contact method.
 */
export async function recordLateFailure(
  tx: Knex,
  { notificationId: id, error, disables, withinHours, kinds, isOnce }: LateFailure,
): Promise<{ isKnown: boolean; isDisabledNow: boolean }> {
  const [found] = await query(
    tx,
    typed`SELECT ${RECIPIENT_COLUMNS}
     FROM notifications n LEFT JOIN integrations c ON c.id = n.integration_id
     WHERE n.id = ?::uuid AND n.created_at >= now() - make_interval(hours => ?::int)
       AND coalesce(c.kind, n.method_kind) = ANY(?::text[]) AND (c.id IS NOT NULL OR n.method_id IS NOT NULL)
       AND NOT (?::boolean AND n.state = 'failed')`,
    [id, withinHours, kinds, isOnce],
  )
  if (!found) return { isKnown: false, isDisabledNow: false }
  const table = found.isIntegration ? 'integrations' : 'contact_methods'
  const [before] = await query<{ isEnabled: boolean }>(
    tx,
    `SELECT disabled_at IS NULL AS "isEnabled" FROM ${table} WHERE id::text = ? FOR NO KEY UPDATE`,
    [found.recipient],
  )
  await execute(
    tx,
    `UPDATE ${table} SET last_error = ?,
       disabled_at = CASE WHEN ? THEN coalesce(disabled_at, now()) ELSE disabled_at END WHERE id::text = ?`,
    [error, disables, found.recipient],
  )
  const ofMessage = '(SELECT id FROM notifications WHERE id = ?::uuid OR leader_id = ?::uuid)'
  await execute(tx, reevaluateIncidentsOf(`IN ${ofMessage}`), [id, id])
  await execute(
    tx,
    `UPDATE notifications SET error = ?, state = CASE state WHEN 'delivered' THEN 'failed' ELSE state END
     WHERE id IN ${ofMessage}`,
    [error, id, id],
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

const FAILED_METHOD_COLUMNS = columns<{ methodId: string; error: string }>()('n.method_id, n.error')

export async function disabledMethodOf(
  db: Knex,
  notificationId: string,
): Promise<{ methodId: string; error: string } | null> {
  const [found] = await query(
    db,
    typed`SELECT ${FAILED_METHOD_COLUMNS} FROM notifications n JOIN contact_methods m ON m.id = n.method_id
     WHERE n.id = ?::uuid AND m.disabled_at IS NOT NULL`,
    [notificationId],
  )
  return found ?? null
}
