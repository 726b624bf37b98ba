import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'

/** A change of status with its reason. */
export interface ExplainedFlip {
  id: number
  at: Micros
  from: StoredStatus
  to: StoredStatus
  reason: string | null
  /** false until it was decided whom to notify of it */
  isProcessed: boolean
}

/** The newest change of a check's status until an instant; null when there was none. @param until null is now */
export async function flipToExplain(db: Knex, checkId: number, until: Micros | null): Promise<ExplainedFlip | null> {
  const [flip] = await query<ExplainedFlip>(
    db,
    `SELECT id, ${microsOf('at')} AS at, from_status AS "from", to_status AS "to", reason,
            processed_at IS NOT NULL AS "isProcessed"
     FROM flips WHERE check_id = ? AND (?::bigint IS NULL OR at <= ${timestampOf('?::bigint')})
     ORDER BY id DESC LIMIT 1`,
    [checkId, until, until],
  )
  return flip ?? null
}

/** What became of a flip's message to one integration. */
export interface ToldChannel {
  uuid: string
  kind: string
  name: string
  isDisabled: boolean
  /** assigned to the check now */
  isAssigned: boolean
  /** null when there was no message to it */
  state: 'pending' | 'delivered' | 'failed' | 'suppressed' | null
  error: string | null
  attempts: number | null
  nextAttemptAt: Date | null
  finishedAt: Date | null
}

/** The integrations of a check, and those that were notified of this flip; in the order of their creation. */
export async function channelsToldOf(db: Knex, checkId: number, flipId: number): Promise<ToldChannel[]> {
  return await query<ToldChannel>(
    db,
    `SELECT c.uuid, c.kind, c.name, c.disabled_at IS NOT NULL AS "isDisabled", a.check_id IS NOT NULL AS "isAssigned",
            n.state, n.error, n.attempts, n.next_attempt_at AS "nextAttemptAt", n.finished_at AS "finishedAt"
     FROM channels c
     LEFT JOIN check_channels a ON a.channel_id = c.id AND a.check_id = ?
     LEFT JOIN notifications n ON n.channel_id = c.id AND n.flip_id = ?
     WHERE a.check_id IS NOT NULL OR n.id IS NOT NULL ORDER BY c.id`,
    [checkId, flipId],
  )
}
