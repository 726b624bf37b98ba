import type { Knex } from 'knex'
import { checkFlipped } from '../contracts/check-flipped.ts'
import { type OutboxRow, RESEND_AFTER } from '../platform/outbox.ts'
import { query } from '../platform/sql.ts'
import type { Micros } from '../time.ts'
import { timestampOf } from './lock-store.ts'

/** Checks that one statement takes down: larger pages make the planner sort, and hold more locks. */
export const OVERDUE_PAGE = 5_000

/** Whether any check is past its deadline; one look at an index. */
export async function hasOverdue(db: Knex, before: Micros): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM checks WHERE status <> 'down' AND alert_after IS NOT NULL AND alert_after < ${timestampOf('?::bigint')}
     LIMIT 1`,
    [before],
  )
  return rows.length > 0
}

/**
 * Takes overdue checks down, most overdue first: status, a flip dated at the deadline, and the message, in one
 * statement. A check that a ping has locked is left for the next sweep, and so is one of a shard that is not given.
 * @param shards those whose queues are known to hold nothing older
 * @returns the messages to publish after the commit; fewer than OVERDUE_PAGE when no more is due
 */
export async function takeOverdueDown(
  db: Knex,
  before: Micros,
  shards: { answered: readonly number[]; total: number },
): Promise<OutboxRow[]> {
  return await query<OutboxRow>(db, TAKE_OVERDUE_DOWN, [
    before,
    shards.total,
    shards.answered,
    OVERDUE_PAGE,
    checkFlipped.name,
    RESEND_AFTER,
  ])
}

export const TAKE_OVERDUE_DOWN = `
  WITH due AS (
    SELECT id, status, alert_after FROM checks
    WHERE status <> 'down' AND alert_after IS NOT NULL AND alert_after < ${timestampOf('?::bigint')}
      AND id % ? = ANY(?::bigint[])
    ORDER BY alert_after LIMIT ? FOR NO KEY UPDATE SKIP LOCKED),
  downed AS (
    UPDATE checks SET status = 'down', alert_after = NULL FROM due WHERE checks.id = due.id
    RETURNING checks.id, due.status AS from_status, due.alert_after AS deadline),
  flipped AS (
    INSERT INTO flips (check_id, at, from_status, to_status, reason)
    SELECT id, deadline, from_status, 'down', 'timeout' FROM downed ORDER BY deadline
    RETURNING id)
  INSERT INTO outbox (message_id, message, payload, resend_at)
  SELECT gen_random_uuid(), ?, jsonb_build_object('flipId', id), now() + ?::interval FROM flipped
  RETURNING id, message_id AS "messageId", message, payload`
