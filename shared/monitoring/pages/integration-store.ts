import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

const USAGE_COLUMNS = columns<{ uuid: string; count: number }>({ uuid: 'c.uuid', count: 'count(*)' })

export async function countUsage(db: Knex, projectId: number): Promise<Map<string, number>> {
  const rows = await query(
    db,
    typed`SELECT ${USAGE_COLUMNS} FROM integrations c JOIN check_integrations a ON a.integration_id = c.id
     WHERE c.project_id = ? GROUP BY c.uuid`,
    [projectId],
  )
  return new Map(rows.map(({ uuid, count }) => [uuid, count]))
}

interface RecentMessages {
  states: SentMessage['state'][]
  /** when the newest delivered message was sent; null if none was delivered */
  lastSentAt: Date | null
}

const RECENT_MESSAGES_COLUMNS = columns<RecentMessages & { id: number }>()(`
  c.id, r.states, r."lastSentAt" AS lastSentAt`)

/** Keyed by integration id, with at most `limit` messages of each; omits integrations without messages. */
export async function recentMessages(db: Knex, projectId: number, limit: number): Promise<Map<number, RecentMessages>> {
  const rows = await query(
    db,
    typed`SELECT ${RECENT_MESSAGES_COLUMNS} FROM integrations c CROSS JOIN LATERAL (
       SELECT array_agg(n.state ORDER BY n.created_at) AS states,
              max(n.finished_at) FILTER (WHERE n.state = 'delivered') AS "lastSentAt"
       FROM (SELECT state, created_at, finished_at FROM notifications WHERE integration_id = c.id
             ORDER BY created_at DESC LIMIT ?) n) r
     WHERE c.project_id = ? AND r.states IS NOT NULL`,
    [limit, projectId],
  )
  return new Map(rows.map(({ id, ...recent }) => [id, recent]))
}

const USERS_COLUMNS = columns<{ uuid: string; name: string }>({ uuid: 'c.uuid', name: 'c.name' })

export async function listUsers(
  db: Knex,
  integrationId: number,
  limit: number,
): Promise<{ uuid: string; name: string }[]> {
  return await query(
    db,
    typed`SELECT ${USERS_COLUMNS} FROM check_integrations a JOIN checks c ON c.id = a.check_id
     WHERE a.integration_id = ? ORDER BY lower(c.name), c.id LIMIT ?`,
    [integrationId, limit],
  )
}

export interface SentMessage {
  id: string
  createdAt: Date
  status: 'up' | 'down'
  state: 'pending' | 'delivered' | 'failed' | 'suppressed'
  error: string
  nextAttemptAt: Date | null
  checkUuid: string | null
  checkName: string | null
  attempts: MessageAttempt[]
}

interface MessageAttempt {
  n: number
  startedAt: string
  durationMs: number
  outcome: 'delivered' | 'temporary' | 'permanent'
  error: string
}

const SENT_MESSAGE_COLUMNS = columns<SentMessage>({
  id: 'n.id',
  createdAt: 'n.created_at',
  status: 'n.check_status',
  state: 'n.state',
  error: 'n.error',
  nextAttemptAt: "CASE WHEN n.state = 'pending' THEN n.next_attempt_at END",
  checkUuid: 'c.uuid',
  checkName: 'c.name',
  attempts: `coalesce((SELECT json_agg(json_build_object('n', a.n, 'startedAt', a.started_at, 'durationMs', a.duration_ms,
                                                        'outcome', a.outcome, 'error', a.error) ORDER BY a.n)
                      FROM notification_attempts a WHERE a.notification_id = n.id), '[]')`,
})

/** Newest first. A message without a check is a test. */
export async function listSentMessages(db: Knex, integrationId: number, limit: number): Promise<SentMessage[]> {
  return await query(
    db,
    typed`SELECT ${SENT_MESSAGE_COLUMNS} FROM notifications n LEFT JOIN checks c ON c.id = n.check_id
     WHERE n.integration_id = ? ORDER BY n.created_at DESC LIMIT ?`,
    [integrationId, limit],
  )
}

export async function toggleAssignment(
  tx: Knex,
  checkId: number,
  projectId: number,
  integrationUuid: string,
): Promise<void> {
  const removed = await execute(
    tx,
    'DELETE FROM check_integrations WHERE check_id = ? AND integration_id IN (SELECT id FROM integrations WHERE uuid = ?)',
    [checkId, integrationUuid],
  )
  if (removed > 0) return
  await execute(
    tx,
    `INSERT INTO check_integrations (check_id, integration_id) SELECT ?::bigint, id FROM integrations WHERE project_id = ? AND uuid = ?
     ON CONFLICT DO NOTHING`,
    [checkId, projectId, integrationUuid],
  )
}

const INTEGRATION_COLUMNS = columns<{
  id: number
  uuid: string
  projectId: number
  projectName: string
  name: string
  kind: string
  sealedConfig: string
}>()('c.id, c.uuid, c.project_id, p.name AS projectName, c.name, c.kind, c.sealed_config')

export async function findIntegrationByUuid(
  db: Knex,
  uuid: string,
): Promise<{
  id: number
  uuid: string
  projectId: number
  projectName: string
  name: string
  kind: string
  sealedConfig: string
} | null> {
  const rows = await query(
    db,
    typed`SELECT ${INTEGRATION_COLUMNS} FROM integrations c JOIN projects p ON p.id = c.project_id WHERE c.uuid = ?`,
    [uuid],
  )
  return rows[0] ?? null
}

export async function assignToAllChecks(tx: Knex, integrationId: number, projectId: number): Promise<void> {
  await execute(
    tx,
    `INSERT INTO check_integrations (check_id, integration_id) SELECT id, ?::bigint FROM checks WHERE project_id = ?
     ON CONFLICT DO NOTHING`,
    [integrationId, projectId],
  )
}

/** Returns those uuids that a check of the project has. */
export async function assignToChecks(
  tx: Knex,
  integrationId: number,
  projectId: number,
  uuids: readonly string[],
): Promise<string[]> {
  const rows = await query<{ uuid: string }>(
    tx,
    `WITH wanted AS (SELECT id, uuid FROM checks WHERE project_id = ? AND uuid = ANY(?::uuid[])), assigned AS (
       INSERT INTO check_integrations (check_id, integration_id) SELECT id, ?::bigint FROM wanted
       ON CONFLICT DO NOTHING)
     SELECT uuid FROM wanted`,
    [projectId, uuids, integrationId],
  )
  return rows.map(({ uuid }) => uuid)
}

export async function integrationFingerprint(
  db: Knex,
  integrationId: number,
): Promise<{ fingerprint: string; isDown: boolean }> {
  const rows = await query<{ fingerprint: string }>(
    db,
    `SELECT concat_ws(' ', c.last_notify_at, c.disabled_at, c.last_error, c.email_verified,
                      (SELECT string_agg(n.state || n.attempts, ' ') FROM
                        (SELECT state, attempts FROM notifications WHERE integration_id = c.id
                         ORDER BY created_at DESC LIMIT 30) AS n)) AS fingerprint
     FROM integrations c WHERE c.id = ?`,
    [integrationId],
  )
  return { fingerprint: rows[0]?.fingerprint ?? '', isDown: false }
}
