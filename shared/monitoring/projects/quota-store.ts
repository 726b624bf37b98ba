import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

/** Stores it at most once a month. */
export async function noteCheckLimit(db: Knex, projectId: number, checkLimit: number): Promise<void> {
  // An earlier note is visible without a lock, so concurrent requests with thousands of names do not wait for each
  // other.
  await execute(
    db,
    `WITH noted AS (
       INSERT INTO quota_notices (project_id, check_limit)
       SELECT p.id, ?::int FROM projects p
       WHERE p.id = ? AND NOT EXISTS (
         SELECT FROM quota_notices q WHERE q.project_id = p.id AND q.reached_at > now() - interval '30 days')
       ON CONFLICT (project_id) DO UPDATE
         SET check_limit = excluded.check_limit, reached_at = now(), notified_at = NULL
         WHERE quota_notices.reached_at < now() - interval '30 days'
       RETURNING project_id, check_limit)
     INSERT INTO audit_log (organisation_id, user_id, actor, action, target, address)
     SELECT p.organisation_id, NULL, 'service', 'project.check-limit-reached', p.name || ': ' || noted.check_limit, ''
     FROM noted JOIN projects p ON p.id = noted.project_id`,
    [checkLimit, projectId],
  )
}

export interface DueNotice {
  projectId: number
  projectUuid: string
  projectName: string
  checkLimit: number
  owners: string[]
}

const DUE_NOTICE_COLUMNS = columns<DueNotice>()(`
  q.project_id, p.uuid AS projectUuid, p.name AS projectName, q.check_limit, owners.emails AS owners`)

/** Claims each notice once; its project must have an owner. */
export async function claimQuotaNotices(db: Knex): Promise<DueNotice[]> {
  return await query(
    db,
    typed`WITH owners AS (
       SELECT q.project_id, array_agg(u.email ORDER BY u.id) AS emails
       FROM quota_notices q JOIN projects p ON p.id = q.project_id
       JOIN memberships m ON m.organisation_id = p.organisation_id AND m.role = 'owner' JOIN users u ON u.id = m.user_id
       WHERE q.notified_at IS NULL GROUP BY q.project_id)
     UPDATE quota_notices q SET notified_at = now() FROM owners, projects p
     WHERE q.project_id = owners.project_id AND p.id = q.project_id AND q.notified_at IS NULL
     RETURNING ${DUE_NOTICE_COLUMNS}`,
  )
}

/** Makes a notice due again whose mails could not be sent. */
export async function returnQuotaNotice(db: Knex, projectId: number): Promise<void> {
  await execute(db, 'UPDATE quota_notices SET notified_at = NULL WHERE project_id = ?', [projectId])
}

export async function findReachedLimit(db: Knex, projectId: number): Promise<number | null> {
  const rows = await query<{ checkLimit: number }>(
    db,
    `SELECT check_limit AS "checkLimit" FROM quota_notices
     WHERE project_id = ? AND reached_at > now() - interval '30 days'`,
    [projectId],
  )
  return rows[0]?.checkLimit ?? null
}
