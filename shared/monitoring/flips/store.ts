import type { Knex } from 'knex'
import { alertsReevaluate } from '../../contracts/worker-messages.ts'
import { OUTBOX_ROW_COLUMNS, type OutboxRow, RESEND_AFTER } from '../../platform/broker/outbox-store.ts'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { StatusChange } from '../checks/state-machine.ts'
import type { Flip, FlipRange } from './filters.ts'

/** SQL over `from_status` and `to_status` (docs/spec/alerting.md#decisions). */
const SILENT_REASON = `
  CASE WHEN to_status = 'paused' THEN 'PAUSED' WHEN to_status = 'new' THEN 'RESUMED'
       WHEN from_status = 'paused' THEN 'WAS_PAUSED' ELSE 'FIRST_SUCCESS' END`

/** Each flip needs an explanation, also without a notification. */
const DECIDE_SILENT = `
  INSERT INTO alert_decisions (check_id, flip_id, at, outcome, reason)
  SELECT check_id, id, at, 'none', ${SILENT_REASON} FROM flipped WHERE processed_at IS NOT NULL`

const FLIP_COLUMNS = columns<Flip>({ at: microsOf('at'), from: 'from_status', to: 'to_status' })

export async function listFlips(db: Knex, checkId: number, range: FlipRange): Promise<Flip[]> {
  const rows = await query(
    db,
    typed`SELECT ${FLIP_COLUMNS} FROM flips
     WHERE check_id = ?
       AND (?::bigint IS NULL OR at >= ${timestampOf('?::bigint')})
       AND (?::bigint IS NULL OR at < ${timestampOf('?::bigint')})
     ORDER BY id DESC`,
    [checkId, range.from, range.from, range.before, range.before],
  )
  return rows
}

export async function insertHistoricFlip(tx: Knex, checkId: number, change: StatusChange, at: Micros): Promise<void> {
  await execute(
    tx,
    `WITH flipped AS (
       INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
       VALUES (?, ${timestampOf('?::bigint')}, ?, ?, ?, now())
       RETURNING id, check_id, at, from_status, to_status, processed_at)
     ${DECIDE_SILENT}`,
    [checkId, at, change.from, change.to, change.reason],
  )
}

export async function pruneFlips(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM flips WHERE id IN (
       SELECT id FROM flips WHERE at < now() - make_interval(days => ?::int) ORDER BY at LIMIT ?)`,
    [days, limit],
  )
}

export interface NewFlip extends StatusChange {
  checkId: number
  at: Micros
}

/** Publish the row after the commit. Some first successes need none (docs/spec/monitoring.md#notification-dispatch). */
export async function recordFlips(run: RunPrepared, flips: readonly NewFlip[]): Promise<OutboxRow[]> {
  if (flips.length === 0) return []
  return await run(RECORD_FLIPS, [
    flips.map((flip) => flip.checkId),
    flips.map((flip) => flip.at),
    flips.map((flip) => flip.from),
    flips.map((flip) => flip.to),
    flips.map((flip) => flip.reason),
    flips.map((flip) => flip.processed || (flip.to === 'up' && flip.from !== 'down')),
    alertsReevaluate.name,
    RESEND_AFTER,
  ])
}

const RECORD_FLIPS = {
  name: 'record-flips',
  text: typed`
  WITH flipped AS (
    INSERT INTO flips (check_id, at, from_status, to_status, reason, processed_at)
    SELECT check_id, ${timestampOf('at')}, from_status, to_status, reason, CASE WHEN processed THEN now() END
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::boolean[])
         AS t(check_id, at, from_status, to_status, reason, processed)
    RETURNING id, check_id, at, from_status, to_status, processed_at),
  decided AS (${DECIDE_SILENT})
  INSERT INTO outbox (message_id, message, payload, resend_at)
  SELECT gen_random_uuid(), $7, '{}', now() + $8::interval
  WHERE EXISTS (SELECT 1 FROM flipped WHERE processed_at IS NULL)
  RETURNING ${OUTBOX_ROW_COLUMNS}`,
} satisfies Prepared
