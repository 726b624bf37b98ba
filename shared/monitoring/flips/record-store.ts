import { alertsReevaluate } from '../../contracts/alerts-reevaluate.ts'
import { type OutboxRow, RESEND_AFTER } from '../../platform/broker/outbox-store.ts'
import { timestampOf } from '../../platform/database/instants.ts'
import type { Prepared, RunPrepared } from '../../platform/database/prepared.ts'
import type { Micros } from '../../time.ts'
import type { StatusChange } from '../checks/state-machine.ts'
import { DECIDE_SILENT } from './silent-store.ts'

export interface NewFlip extends StatusChange {
  checkId: number
  at: Micros
}

/**
 * Stores flips and, where somebody is to be notified of one, the message that wakes the alerter: one, however many flips
 * there are. The caller publishes the row once it has committed. Nobody is told that a new or paused check came up
 * (docs/spec/monitoring.md#notification-dispatch), which is decided and kept here.
 */
export async function recordFlips(run: RunPrepared, flips: readonly NewFlip[]): Promise<OutboxRow[]> {
  if (flips.length === 0) return []
  return await run<OutboxRow>(RECORD_FLIPS, [
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

const RECORD_FLIPS: Prepared = {
  name: 'record-flips',
  text: `
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
  RETURNING id, message_id AS "messageId", message, payload`,
}
