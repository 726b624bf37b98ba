import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'

interface ListedIntegration {
  uuid: string
  name: string
  kind: string
}

export interface StoredIntegration extends ListedIntegration {
  id: number
  projectId: number
  sealedConfig: string
  disabledAt: Date | null
  lastNotifyAt: Date | null
  lastError: string
  /** e-mail only: the recipient confirmed, or confirmation is not required. Nothing is sent before */
  isEmailVerified: boolean
}

const COLUMNS = columns<StoredIntegration>()(`
  id, uuid, project_id, kind, name, sealed_config, disabled_at, last_notify_at, last_error,
  email_verified AS isEmailVerified`)

/** In the order of creation; includes disabled ones. */
export async function listIntegrations(db: Knex, projectId: number): Promise<StoredIntegration[]> {
  const rows = await query(db, typed`SELECT ${COLUMNS} FROM integrations WHERE project_id = ? ORDER BY id`, [projectId])
  return rows
}

export async function findIntegration(db: Knex, projectId: number, uuid: string): Promise<StoredIntegration | null> {
  const rows = await query(db, typed`SELECT ${COLUMNS} FROM integrations WHERE project_id = ? AND uuid = ?`, [
    projectId,
    uuid,
  ])
  return rows[0] ?? null
}

/** Returns those ids that an integration of any project has. */
export async function findTakenIntegrations(db: Knex, uuids: readonly string[]): Promise<string[]> {
  const rows = await query<{ uuid: string }>(db, 'SELECT uuid FROM integrations WHERE uuid = ANY(?::uuid[])', [uuids])
  return rows.map(({ uuid }) => uuid)
}

/** Ids of a project's integrations that a group may pass its notification on to; a group of groups would never end. */
export async function findGroupMembers(db: Knex, projectId: number, uuids: readonly string[]): Promise<number[]> {
  const rows = await query<{ id: number }>(
    db,
    `SELECT id FROM integrations WHERE project_id = ? AND uuid = ANY(?::uuid[]) AND kind <> 'group' ORDER BY id`,
    [projectId, uuids],
  )
  return rows.map(({ id }) => id)
}

/** `uuid` is given only if an integration moves here; its recipient then counts as confirmed. */
export async function insertIntegration(
  db: Knex,
  integration: {
    projectId: number
    kind: string
    name: string
    sealedConfig: string
    uuid?: string
    isEmailVerified?: boolean
  },
): Promise<StoredIntegration> {
  const rows = await query(
    db,
    typed`INSERT INTO integrations (project_id, kind, name, sealed_config, uuid, email_verified)
     VALUES (?, ?, ?, ?, COALESCE(?::uuid, gen_random_uuid()), ?) RETURNING ${COLUMNS}`,
    [
      integration.projectId,
      integration.kind,
      integration.name,
      integration.sealedConfig,
      integration.uuid ?? null,
      integration.isEmailVerified ?? true,
    ],
  )
  const [row] = rows
  if (!row) throw new Error('the integration was not inserted')
  return row
}

export async function updateIntegrationRow(
  db: Knex,
  integrationId: number,
  changes: { name?: string; sealedConfig?: string; disabled?: boolean; isEmailVerified?: boolean },
): Promise<void> {
  await execute(
    db,
    `UPDATE integrations SET
       name = COALESCE(?::text, name),
       sealed_config = COALESCE(?::text, sealed_config),
       disabled_at = CASE ?::boolean WHEN true THEN COALESCE(disabled_at, now()) WHEN false THEN NULL ELSE disabled_at END,
       email_verified = COALESCE(?::boolean, email_verified)
     WHERE id = ?`,
    [
      changes.name ?? null,
      changes.sealedConfig ?? null,
      changes.disabled ?? null,
      changes.isEmailVerified ?? null,
      integrationId,
    ],
  )
}

/** Has no effect if the configuration has changed since. */
export async function confirmRecipient(db: Knex, integration: { id: number; sealedConfig: string }): Promise<void> {
  await execute(db, 'UPDATE integrations SET email_verified = true WHERE id = ? AND sealed_config = ?', [
    integration.id,
    integration.sealedConfig,
  ])
}

export async function deleteIntegrationRow(db: Knex, projectId: number, uuid: string): Promise<boolean> {
  const changed = await execute(db, 'DELETE FROM integrations WHERE project_id = ? AND uuid = ?', [projectId, uuid])
  return changed === 1
}

export interface ListedNotification {
  id: string
  checkUuid: string | null
  checkStatus: 'up' | 'down'
  state: 'pending' | 'delivered' | 'failed' | 'suppressed'
  error: string
  attempts: number
  createdAt: Date
  nextAttemptAt: Date | null
  finishedAt: Date | null
  what: 'flip' | 'test' | 'first' | 'repeat' | 'recovery' | 'flapping' | 'digest' | 'unknown' | 'shift'
  incident: string | null
  size: number
}

const LISTED_NOTIFICATION_COLUMNS = columns<ListedNotification>()(`
  n.id, c.uuid AS checkUuid, n.check_status, n.state, n.error, n.attempts, n.created_at, n.next_attempt_at,
  n.finished_at, n.what, n.incident_id AS incident, coalesce(b.size, 1) AS size`)

export async function listNotifications(db: Knex, integrationId: number, limit: number): Promise<ListedNotification[]> {
  return await query(
    db,
    typed`SELECT ${LISTED_NOTIFICATION_COLUMNS}
     FROM notifications n LEFT JOIN notification_bundles b ON b.id = n.bundle_id LEFT JOIN checks c ON c.id = n.check_id
     WHERE n.integration_id = ? ORDER BY n.created_at DESC, n.id LIMIT ?`,
    [integrationId, limit],
  )
}

/** Verified addresses only, in lower case. */
export async function listMemberAddresses(db: Knex, projectId: number): Promise<string[]> {
  const rows = await query<{ email: string }>(
    db,
    `SELECT u.email FROM users u JOIN memberships m ON m.user_id = u.id
     JOIN projects p ON p.organisation_id = m.organisation_id WHERE p.id = ? AND u.email_verified`,
    [projectId],
  )
  return rows.map(({ email }) => email)
}

export async function listVerifiedRecipients(db: Knex, projectId: number): Promise<Buffer[]> {
  const rows = await query<{ digest: Buffer }>(db, 'SELECT digest FROM verified_recipients WHERE project_id = ?', [
    projectId,
  ])
  return rows.map(({ digest }) => digest)
}

export async function insertVerifiedRecipient(tx: Knex, projectId: number, digest: Buffer): Promise<void> {
  await execute(tx, 'INSERT INTO verified_recipients (project_id, digest) VALUES (?, ?) ON CONFLICT DO NOTHING', [
    projectId,
    digest,
  ])
}

/** The next integration with this address must be confirmed again. */
export async function deleteVerifiedRecipient(tx: Knex, projectId: number, digests: readonly Buffer[]): Promise<void> {
  await execute(tx, 'DELETE FROM verified_recipients WHERE project_id = ? AND digest = ANY(?::bytea[])', [
    projectId,
    digests,
  ])
}
