import type { Knex } from 'knex'
import { alertsReevaluate } from '../../contracts/worker-messages.ts'
import { type OutboxRow, RESEND_AFTER } from '../../platform/broker/outbox-store.ts'
import { transaction } from '../../platform/database/db.ts'
import { timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { type Doubts, settleDoubtful } from '../availability/extension-store.ts'

/** Checks per statement. Larger pages make the planner sort, and need more locks. */
export const OVERDUE_PAGE = 5_000

export async function hasOverdue(db: Knex, before: Micros): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM check_deadlines WHERE next_check_at < ${timestampOf('?::bigint')} LIMIT 1`,
    [before],
  )
  return rows.length > 0
}

export interface Swept {
  /** fewer than OVERDUE_PAGE if no more are due, or if the others are locked */
  evaluated: number
  messages: OutboxRow[]
  down: number[]
  extended: number[]
}

/**
 * Takes overdue checks down, most overdue first:
 * 1. due: locks rows of check_deadlines whose time has passed, before deadlines are read. A ping that makes a deadline
 *    earlier at the same time is therefore either visible, or waits for this transaction.
 * 2. seen: reads the checks once, in their physical order. Skips a check that a ping has locked until the next sweep. If
 *    a ping has moved the deadline, next_check_at follows it; without a deadline the row is deleted.
 * 3. flipped: sets the checks down and deletes their deadlines. This changes no index of `checks`.
 * 4. recorded: stores a flip for each, dated at the deadline.
 * 5. sent: stores one message for the alerter, which the caller publishes after the commit.
 *
 * Between 1 and 2, if a ping may have been expected in a coverage gap, checks are evaluated one by one
 * (docs/spec/alerting.md#overdue-evaluation).
 * @param shards those whose queues contain no earlier pings
 * @param doubts null if there has been neither a gap nor a refused ping
 */
export async function sweepOverdue(
  db: Knex,
  before: Micros,
  shards: { answered: readonly number[]; total: number },
  doubts: Doubts | null = null,
): Promise<Swept> {
  return await transaction(db, async (tx) => {
    await execute(tx, FIX_PLAN)
    const [due] = await query(tx, DUE, [before, shards.total, shards.answered, OVERDUE_PAGE])
    if (!due || due.ids === null) return { evaluated: 0, messages: [], down: [], extended: [] }
    const settled = doubts ? await settleDoubtful(tx, due.ids, before, doubts) : { ids: due.ids, extended: [], left: 0 }
    const rows = await query(tx, TAKE_DOWN, [settled.ids, before, alertsReevaluate.name, RESEND_AFTER])
    const [first] = rows
    const count = (first?.settled ?? 0) + settled.extended.length + settled.left
    return {
      evaluated: count === 0 ? 0 : due.count,
      messages: rows.filter((row) => row.id !== null),
      down: first?.down ?? [],
      extended: settled.extended,
    }
  })
}

/** Concurrent pages, if there is more than one. Each uses one processor of the server. */
const LANES = 2

/**
 * Sweeps until a page is not full: the first alone, then two at a time, each in its own transaction. A page skips
 * locked rows, so they do not wait for each other. Throws the error of a page after all pages have ended.
 */
export async function sweepPages(sweep: () => Promise<Swept>, onSwept: (swept: Swept) => void): Promise<void> {
  const isFull = async () => {
    const swept = await sweep()
    onSwept(swept)
    return swept.evaluated === OVERDUE_PAGE
  }
  if (!(await isFull())) return
  const lane = async () => {
    while (await isFull());
  }
  const ends = await Promise.allSettled(Array.from({ length: LANES }, lane))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

interface Due {
  /** a PostgreSQL array; null if nothing is due */
  ids: string | null
  count: number
}

interface SweptRow {
  id: number | null
  settled: number
  down: number[] | null
}

/** With many overdue checks the planner would sort all deadlines for each page, and scan all checks. */
export const FIX_PLAN = `
  SET LOCAL enable_bitmapscan = off; SET LOCAL enable_seqscan = off;
  SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off`

const DUE_COLUMNS = columns<Due>({ ids: 'array_agg(check_id)::text', count: 'count(*)' })

/** Step 1. @param values before (microseconds), number of shards, shards, limit */
export const DUE = typed`
  SELECT ${DUE_COLUMNS} FROM (SELECT check_id FROM check_deadlines
        WHERE next_check_at < ${timestampOf('?::bigint')} AND check_id % ? = ANY(?::bigint[])
        ORDER BY next_check_at LIMIT ? FOR NO KEY UPDATE SKIP LOCKED) due`

const SWEPT_COLUMNS = columns<OutboxRow & SweptRow>()(`
  sent.id, sent.message_id, sent.message, sent.payload, counted.settled,
  (SELECT json_agg(check_id) FROM recorded) AS down`)

/** Steps 2 to 5. @param values ids, before (microseconds), name of the message, time until it is sent again */
export const TAKE_DOWN = typed`
  WITH requested AS (SELECT ?::bigint[] AS ids, ${timestampOf('?::bigint')} AS before),
  seen AS MATERIALIZED (
    SELECT id, alert_after, alert_after IS NULL OR status = 'down' AS is_done FROM checks
    WHERE id = ANY((SELECT ids FROM requested)::bigint[])),
  still_due AS (
    SELECT id, status, alert_after FROM checks
    WHERE id = ANY(ARRAY(SELECT id FROM seen WHERE NOT is_done AND alert_after < (SELECT before FROM requested)))
      AND alert_after < (SELECT before FROM requested) AND status <> 'down'
    FOR NO KEY UPDATE SKIP LOCKED),
  moved AS (
    UPDATE check_deadlines SET next_check_at = seen.alert_after FROM seen
    WHERE check_id = seen.id AND NOT is_done AND seen.alert_after >= (SELECT before FROM requested)
    RETURNING check_id),
  flipped AS (
    UPDATE checks SET status = 'down', alert_after = NULL FROM still_due WHERE checks.id = still_due.id
    RETURNING checks.id, still_due.status AS from_status, still_due.alert_after AS deadline),
  ended AS (
    DELETE FROM check_deadlines WHERE check_id IN (
      SELECT id FROM flipped UNION ALL SELECT id FROM seen WHERE is_done)
    RETURNING check_id),
  recorded AS (
    INSERT INTO flips (check_id, at, from_status, to_status, reason)
    SELECT id, deadline, from_status, 'down', 'timeout' FROM flipped ORDER BY deadline
    RETURNING check_id),
  sent AS (
    INSERT INTO outbox (message_id, message, payload, resend_at)
    SELECT gen_random_uuid(), ?, '{}', now() + ?::interval WHERE EXISTS (SELECT 1 FROM recorded)
    RETURNING id, message_id, message, payload)
  SELECT ${SWEPT_COLUMNS}
  FROM (SELECT (SELECT count(*) FROM moved) + (SELECT count(*) FROM ended) AS settled) counted LEFT JOIN sent ON true`
