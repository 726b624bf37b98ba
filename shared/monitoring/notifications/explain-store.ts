import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'

export interface ExplainedFlip {
  id: number
  at: Micros
  from: StoredStatus
  to: StoredStatus
  reason: string | null
  /** false until it was decided whom to notify of it */
  isProcessed: boolean
}

const EXPLAINED_FLIP_COLUMNS = columns<ExplainedFlip>()(`
  id, ${microsOf('at')} AS at, from_status AS from, to_status AS to, reason, processed_at IS NOT NULL AS isProcessed`)

export async function flipToExplain(db: Knex, checkId: number, until: Micros | null): Promise<ExplainedFlip | null> {
  const [flip] = await query(
    db,
    typed`SELECT ${EXPLAINED_FLIP_COLUMNS}
     FROM flips WHERE check_id = ? AND (?::bigint IS NULL OR at <= ${timestampOf('?::bigint')})
     ORDER BY id DESC LIMIT 1`,
    [checkId, until, until],
  )
  return flip ?? null
}

export interface NotifiedIntegration {
  uuid: string
  kind: string
  name: string
  isDisabled: boolean
  isAssigned: boolean
  /** of the newest notification; null if there is none */
  state: 'pending' | 'delivered' | 'failed' | 'suppressed' | null
  error: string | null
  attempts: number | null
  nextAttemptAt: Date | null
  finishedAt: Date | null
}

const NOTIFIED_INTEGRATION_COLUMNS = columns<NotifiedIntegration>()(`
  c.uuid, c.kind, c.name, c.disabled_at IS NOT NULL AS isDisabled, a.check_id IS NOT NULL AS isAssigned, n.state,
  n.error, n.attempts, n.next_attempt_at, n.finished_at`)

/** Includes integrations that were notified, and those that a decision names; in the order of creation. */
export async function integrationsNotifiedOf(
  db: Knex,
  checkId: number,
  flip: ExplainedFlip,
  named: readonly string[],
): Promise<NotifiedIntegration[]> {
  return await query(
    db,
    typed`WITH incident AS (SELECT DISTINCT incident_id AS id FROM alert_decisions WHERE check_id = ? AND flip_id = ?),
       notified AS (
         SELECT DISTINCT ON (n.integration_id) n.* FROM notifications n
         WHERE n.flip_id = ?
            OR n.check_id = ? AND n.incident_id IN (SELECT id FROM incident) AND n.check_status = ?
               AND n.created_at >= ${timestampOf('?::bigint')}
            OR (n.bundle_id, n.integration_id) IN (
                 SELECT m.bundle_id, m.integration_id FROM notification_bundle_members m JOIN notification_bundles b ON b.id = m.bundle_id
                 WHERE m.incident_id IN (SELECT id FROM incident) AND m.included AND b.direction = ?)
         ORDER BY n.integration_id, n.created_at DESC)
     SELECT ${NOTIFIED_INTEGRATION_COLUMNS} FROM integrations c
     LEFT JOIN check_integrations a ON a.integration_id = c.id AND a.check_id = ?
     LEFT JOIN notified n ON n.integration_id = c.id
     WHERE c.project_id = (SELECT project_id FROM checks WHERE id = ?)
       AND (a.check_id IS NOT NULL OR n.id IS NOT NULL OR c.uuid = ANY(?::uuid[]))
     ORDER BY c.id`,
    [checkId, flip.id, flip.id, checkId, flip.to, flip.at, flip.to, checkId, checkId, named],
  )
}
