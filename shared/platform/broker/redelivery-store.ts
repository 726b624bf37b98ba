import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { execute, query } from '../database/sql.ts'
import type { Delivery } from './consumer.ts'

/** Uses a separate transaction, so that the count survives a crash. */
export async function recordStart(db: Knex, queue: string, delivery: Delivery): Promise<number> {
  const [row] = await query<{ starts: number }>(
    db,
    `INSERT INTO message_attempts (queue, message, starts) VALUES (?, ?, 1)
     ON CONFLICT (queue, message) DO UPDATE SET starts = message_attempts.starts + 1, started_at = now()
     RETURNING starts`,
    [queue, nameOf(delivery)],
  )
  return row?.starts ?? 0
}

export async function forgetStarts(db: Knex, queue: string, delivery: Delivery): Promise<void> {
  await execute(db, 'DELETE FROM message_attempts WHERE queue = ? AND message = ?', [queue, nameOf(delivery)])
}

export async function pruneStarts(db: Knex): Promise<void> {
  await execute(db, "DELETE FROM message_attempts WHERE started_at < now() - interval '7 days'")
}

/** Returns the message id, or a hash of the content if a foreign sender omitted it. */
function nameOf({ message }: Delivery): string {
  const { messageId } = message.properties
  if (typeof messageId === 'string' && messageId !== '' && messageId.length <= 100) return messageId
  return `sha256:${createHash('sha256').update(message.content).digest('hex')}`
}
