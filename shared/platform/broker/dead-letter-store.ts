import type { Knex } from 'knex'
import { execute } from '../database/sql.ts'

export async function recordDeadLetterAction(
  db: Knex,
  action: { queue: string; messageId: string; action: 'replay' | 'discard'; actor: string },
): Promise<void> {
  await execute(db, 'INSERT INTO dead_letter_actions (queue, message_id, action, actor) VALUES (?, ?, ?, ?)', [
    action.queue,
    action.messageId,
    action.action,
    action.actor,
  ])
}
