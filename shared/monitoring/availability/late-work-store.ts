import type { Knex } from 'knex'
import { query } from '../../platform/database/sql.ts'
import { isNews } from '../alerting/flip-store.ts'

/** Work that has been due for longer is late (docs/spec/alerting.md#coverage-gaps). */
const LATE = '2 minutes'

/**
 * Returns a sentence for each kind of late work. Omits work that waits for slow targets or retries, and webhook
 * deliveries, whose endpoints set the pace.
 */
export async function lateWork(db: Knex): Promise<string[]> {
  const rows = await query<{ what: string }>(
    db,
    `SELECT what FROM (VALUES ${KINDS.join(', ')}) t(what, late) WHERE late`,
  )
  return rows.map(({ what }) => `${what} for more than ${LATE}`)
}

const before = `now() - interval '${LATE}'`

const KINDS = [
  `('overdue checks were not evaluated', EXISTS (SELECT FROM check_deadlines WHERE next_check_at < ${before}))`,
  `('changes of checks wait for the alerter', EXISTS (
     SELECT FROM flips JOIN checks ON checks.id = flips.check_id
     WHERE flips.processed_at IS NULL AND flips.to_status IN ('up', 'down') AND flips.at < ${before}
       AND ${isNews('flips')}))`,
  `('due incidents were not evaluated', EXISTS (SELECT FROM incidents WHERE next_at < ${before}))`,
  `('digests wait to be sent', EXISTS (SELECT FROM notification_bundles WHERE sent_at IS NULL AND send_at < ${before}))`,
  `('notifications wait for a notifier', EXISTS (
     SELECT FROM notifications WHERE state = 'pending' AND next_attempt_at < ${before}))`,
  `('mails wait for a mailer', EXISTS (SELECT FROM outgoing_mails WHERE next_attempt_at < ${before}))`,
  `('messages wait for the broker', EXISTS (SELECT FROM outbox WHERE created_at < ${before}))`,
]
