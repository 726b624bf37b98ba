import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import { NOTICE } from './evaluate-absence.ts'
import type { UnknownCheck } from './notice.ts'

export interface DueUnknown extends UnknownCheck {
  id: number
  checkId: number
  uuid: string
  tags: string
  /** the deadline that was extended, microseconds */
  expectedAt: number
  projectId: number
  projectUuid: string
  isWanted: boolean
  policyId: number | null
}

/** Serializes sweepers; two would send two messages instead of one. */
const LOCK = 5_217_005

const DUE_UNKNOWN_COLUMNS = columns<DueUnknown>()(`
  w.id, w.check_id, c.uuid, coalesce(nullif(c.name, ''), c.uuid::text) AS label, c.tags,
  ${microsOf('w.gap_from')} AS gapFrom, ${microsOf('w.gap_until')} AS gapUntil, ${microsOf('w.next_at')} AS nextAt,
  ${microsOf('w.expected_at')} AS expectedAt, p.id AS projectId, p.uuid AS projectUuid, p.notify_unknown AS isWanted,
  r.policy_id`)

/**
 * Waits until two minutes after the first extension in the project. Skips checks whose next ping is expected within
 * an hour after the gap, and gaps that were notified within the last hour.
 */
export async function claimUnknown(tx: Knex): Promise<DueUnknown[]> {
  const [lock] = await query<{ taken: boolean }>(tx, 'SELECT pg_try_advisory_xact_lock(?) AS taken', [LOCK])
  if (!lock?.taken) return []
  return await query(
    tx,
    typed`WITH waiting AS (
       SELECT u.*, c.project_id FROM unknown_periods u JOIN checks c ON c.id = u.check_id
       WHERE u.until_at IS NULL AND u.notified_at IS NULL
         AND (u.next_at IS NULL OR u.next_at > u.gap_until + interval '${NOTICE.soonSeconds} seconds')),
     due AS (
       SELECT project_id FROM waiting
       WHERE NOT EXISTS (
         SELECT 1 FROM unknown_periods notified JOIN checks c ON c.id = notified.check_id
         WHERE c.project_id = waiting.project_id AND notified.notified_at > now() - interval '1 hour'
           AND (notified.reason = 'REFUSED_PING' AND waiting.reason = 'REFUSED_PING'
                OR notified.gap_from <= waiting.gap_until AND notified.gap_until >= waiting.gap_from))
       GROUP BY project_id HAVING min(deadline_extended_at) <= now() - interval '${NOTICE.afterSeconds} seconds')
     SELECT ${DUE_UNKNOWN_COLUMNS}
     FROM waiting w JOIN due ON due.project_id = w.project_id JOIN checks c ON c.id = w.check_id
       JOIN projects p ON p.id = w.project_id LEFT JOIN check_rules r ON r.check_id = w.check_id
     ORDER BY w.project_id, label`,
  )
}

export async function markNotified(tx: Knex, ids: readonly number[]): Promise<void> {
  await execute(tx, 'UPDATE unknown_periods SET notified_at = now() WHERE id = ANY(?::bigint[])', [ids])
}
