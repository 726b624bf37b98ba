import type { Knex } from 'knex'
import { checkFlipped } from '../../contracts/check-flipped.ts'
import { type OutboxRow, RESEND_AFTER } from '../../platform/broker/outbox.ts'
import { transaction } from '../../platform/database/db.ts'
import { timestampOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

/** Checks that one statement looks at: larger pages make the planner sort, and hold more locks. */
export const OVERDUE_PAGE = 5_000

/** Whether any check has to be looked at; one look at an index. */
export async function hasOverdue(db: Knex, before: Micros): Promise<boolean> {
  const rows = await query(db, `SELECT 1 FROM checks WHERE sweep_at < ${timestampOf('?::bigint')} LIMIT 1`, [before])
  return rows.length > 0
}

export interface Swept {
  /** checks looked at; fewer than OVERDUE_PAGE when no more are due */
  looked: number
  /** of the checks taken down, to be published after the commit */
  messages: OutboxRow[]
  /** ids of the checks taken down */
  down: number[]
}

/**
 * Looks at the checks whose time has come, most overdue first, in one statement. Those past their deadline go down:
 * status, a flip dated at the deadline, and the message. For the others a ping has moved the deadline on: they are
 * looked at again then. A check that a ping has locked is left for the next sweep, and so is one of a shard that is
 * not given.
 * @param shards those whose queues are known to hold nothing older
 */
export async function sweepOverdue(
  db: Knex,
  before: Micros,
  shards: { answered: readonly number[]; total: number },
): Promise<Swept> {
  const values = [before, shards.total, shards.answered, OVERDUE_PAGE, before, checkFlipped.name, RESEND_AFTER]
  const rows = await transaction(db, async (tx) => {
    await tx.raw(KEEP_INDEX_ORDER)
    return await query<OutboxRow & SweptRow>(tx, SWEEP_OVERDUE, values)
  })
  const [first] = rows
  return { looked: first?.looked ?? 0, messages: rows.filter((row) => row.id !== null), down: first?.down ?? [] }
}

interface SweptRow {
  id: number | null
  looked: number
  /** only in the first row */
  down: number[] | null
}

/**
 * With many checks overdue the planner prefers to fetch and sort all of them for each page. Walking the index stops
 * after one page.
 */
const KEEP_INDEX_ORDER = 'SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off'

const SWEEP_OVERDUE = `
  WITH due AS (
    SELECT id, status, alert_after FROM checks
    WHERE sweep_at < ${timestampOf('?::bigint')} AND id % ? = ANY(?::bigint[])
    ORDER BY sweep_at LIMIT ? FOR NO KEY UPDATE SKIP LOCKED),
  decided AS (
    SELECT id, status, alert_after, coalesce(alert_after < ${timestampOf('?::bigint')} AND status <> 'down', false) AS is_over
    FROM due),
  swept AS (
    UPDATE checks SET status = CASE WHEN is_over THEN 'down' ELSE checks.status END,
           alert_after = CASE WHEN is_over THEN NULL ELSE decided.alert_after END,
           sweep_at = CASE WHEN is_over THEN NULL ELSE decided.alert_after END
    FROM decided WHERE checks.id = decided.id
    RETURNING checks.id, decided.status AS from_status, decided.alert_after AS deadline, is_over),
  flipped AS (
    INSERT INTO flips (check_id, at, from_status, to_status, reason)
    SELECT id, deadline, from_status, 'down', 'timeout' FROM swept WHERE is_over ORDER BY deadline
    RETURNING id, check_id),
  sent AS (
    INSERT INTO outbox (message_id, message, payload, resend_at)
    SELECT gen_random_uuid(), ?, jsonb_build_object('flipId', id), now() + ?::interval FROM flipped
    RETURNING id, message_id, message, payload)
  SELECT sent.id, sent.message_id AS "messageId", sent.message, sent.payload, counted.looked,
         CASE WHEN row_number() OVER () = 1 THEN (SELECT json_agg(check_id) FROM flipped) END AS down
  FROM (SELECT count(*) AS looked FROM due) counted LEFT JOIN sent ON true`
