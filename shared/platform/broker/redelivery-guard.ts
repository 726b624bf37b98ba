import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { execute, query } from '../database/sql.ts'
import type { Delivery } from './consumer.ts'

/** Times that the handling of a redelivered message may begin without ending; then the message itself is taken to be the reason. */
export const MAX_STARTS = 3

/**
 * Whether a message may be what kills the process: it was handed out twice before and never acknowledged. What was
 * merely in flight beside the real one looks just the same; telling them apart is what the rest of this file is for.
 */
export function wasRedelivered(delivery: Delivery): boolean {
  return delivery.redeliveries >= 2
}

/** Stores that the handling of a redelivered message begins, in a transaction of its own. @returns how many times it has begun now */
export async function recordStart(db: Knex, queue: string, delivery: Delivery): Promise<number> {
  const [row] = await query<{ starts: number }>(
    db,
    `INSERT INTO message_starts (queue, message, starts) VALUES (?, ?, 1)
     ON CONFLICT (queue, message) DO UPDATE SET starts = message_starts.starts + 1, started_at = now()
     RETURNING starts`,
    [queue, nameOf(delivery)],
  )
  return row?.starts ?? 0
}

/** Forgets a redelivered message whose handling ended. */
export async function forgetStarts(db: Knex, queue: string, delivery: Delivery): Promise<void> {
  await execute(db, 'DELETE FROM message_starts WHERE queue = ? AND message = ?', [queue, nameOf(delivery)])
}

/** Forgets redelivered messages that nobody has begun for a week. */
export async function pruneStarts(db: Knex): Promise<void> {
  await execute(db, "DELETE FROM message_starts WHERE started_at < now() - interval '7 days'")
}

/** The message's id, or a hash of its content when a stranger sent it without one. */
function nameOf({ message }: Delivery): string {
  const { messageId } = message.properties
  if (typeof messageId === 'string' && messageId !== '' && messageId.length <= 100) return messageId
  return `sha256:${createHash('sha256').update(message.content).digest('hex')}`
}
