import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { MessageContract } from '../../contracts/define-message.ts'
import { columns, execute, query, typed } from '../database/sql.ts'

export interface OutboxRow {
  id: number
  messageId: string
  message: string
  payload: unknown
}

export interface Outgoing {
  message: MessageContract<never> | MessageContract<unknown>
  payload: unknown
}

/** Exceeds the publish timeout, so that the sweeper rarely sends a message that is being published. */
export const RESEND_AFTER = '10 seconds'

export const OUTBOX_ROW_COLUMNS = columns<OutboxRow>()('id, message_id, message, payload')

export async function insertMessages(tx: Knex, outgoing: readonly Outgoing[]): Promise<OutboxRow[]> {
  if (outgoing.length === 0) return []
  return await query(
    tx,
    typed`INSERT INTO outbox (message_id, message, payload, resend_at)
     SELECT id, message, payload, now() + ?::interval
     FROM unnest(?::uuid[], ?::text[], ?::jsonb[]) AS t(id, message, payload)
     RETURNING ${OUTBOX_ROW_COLUMNS}`,
    [
      RESEND_AFTER,
      outgoing.map(() => randomUUID()),
      outgoing.map(({ message }) => message.name),
      outgoing.map(({ payload }) => JSON.stringify(payload)),
    ],
  )
}

export async function claimUnsent(db: Knex, limit: number): Promise<OutboxRow[]> {
  return await query(
    db,
    typed`UPDATE outbox SET resend_at = now() + ?::interval
     WHERE id IN (SELECT id FROM outbox WHERE resend_at <= now() ORDER BY resend_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING ${OUTBOX_ROW_COLUMNS}`,
    [RESEND_AFTER, limit],
  )
}

export async function deleteSent(db: Knex, ids: readonly number[]): Promise<void> {
  await execute(db, 'DELETE FROM outbox WHERE id = ANY(?::bigint[])', [ids])
}

const OUTBOX_COLUMNS = columns<{ rows: number; age: number | null }>()(`
  count(*) AS rows, extract(epoch FROM now() - min(created_at))::float AS age`)

/** Returns the age of the oldest in seconds; null if the outbox is empty. */
export async function measureOutbox(db: Knex): Promise<{ rows: number; age: number | null }> {
  const [found] = await query(db, typed`SELECT ${OUTBOX_COLUMNS} FROM outbox`)
  return found ?? { rows: 0, age: null }
}
