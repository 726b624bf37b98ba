import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { CheckSchedule, StoredStatus } from '../checks/check.ts'
import { type Finish, MAX_FINISHES } from './failures.ts'
import { hasWaitingFlip } from './flip-store.ts'
import type { AlertNotification } from './incident.ts'

/** What the alerter must know of a check. */
export interface AlertedCheck extends CheckSchedule {
  id: number
  uuid: string
  projectId: number
  name: string
  tags: string
  status: StoredStatus
  /** of the same moment as its status: a flip of it waits to be handed on; only asked of checks with an incident that is due */
  hasFlip: boolean
}

/** @param due those of the checks that only have an incident whose time has come */
export async function alertedChecks(
  tx: Knex,
  checkIds: readonly number[],
  due: readonly number[],
): Promise<AlertedCheck[]> {
  return await query<AlertedCheck>(
    tx,
    `SELECT id, uuid, project_id AS "projectId", name, tags, status, kind, timeout_seconds AS "timeoutSeconds",
            grace_seconds AS "graceSeconds", schedule, tz,
            id = ANY(?::bigint[]) AND ${hasWaitingFlip('checks.id')} AS "hasFlip"
     FROM checks WHERE id = ANY(?::bigint[])`,
    [due, checkIds],
  )
}

export interface AlertedIntegration {
  id: number
  uuid: string
  projectId: number
  kind: string
  sealedConfig: string
  isDisabled: boolean
}

/** Integrations by id and by uuid, the fastest first, so that a slow one delays none of them. */
export async function alertedIntegrations(
  tx: Knex,
  ids: readonly number[],
  uuids: readonly string[],
): Promise<AlertedIntegration[]> {
  return await query<AlertedIntegration>(
    tx,
    `SELECT id, uuid, project_id AS "projectId", kind, sealed_config AS "sealedConfig",
            disabled_at IS NOT NULL AS "isDisabled"
     FROM integrations WHERE id = ANY(?::bigint[]) OR uuid = ANY(?::uuid[])
     ORDER BY last_notify_duration_ms NULLS LAST, id`,
    [ids, uuids],
  )
}

/** Which integrations checks tell. */
export async function assignmentsOf(
  tx: Knex,
  checkIds: readonly number[],
): Promise<{ checkId: number; integrationId: number }[]> {
  return await query(
    tx,
    'SELECT check_id AS "checkId", integration_id AS "integrationId" FROM check_integrations WHERE check_id = ANY(?::bigint[])',
    [checkIds],
  )
}

/** Locks and reads the messages of incidents, oldest first. What a limit kept back was not attempted that last time. */
export async function lockNotifications(
  tx: Knex,
  incidentIds: readonly string[],
): Promise<(AlertNotification & { incidentId: string })[]> {
  if (incidentIds.length === 0) return []
  return await query(
    tx,
    `SELECT id, incident_id AS "incidentId", integration_id AS "integrationId", what, check_status AS status,
            (detail->>'step')::integer AS step, state,
            attempts - (state = 'suppressed' AND error <> 'Overtaken')::integer AS attempts, error = 'Overtaken' AS "isReplaced"
     FROM notifications WHERE incident_id = ANY(?::uuid[]) ORDER BY created_at, id FOR UPDATE`,
    [incidentIds],
  )
}

/**
 * The digests that incidents are part of, as messages: a recovery is sent like its outage. A gathered digest counts as
 * attempted, but not one that a limit suppressed.
 */
export async function digestsOf(
  tx: Knex,
  incidentIds: readonly string[],
): Promise<(AlertNotification & { incidentId: string })[]> {
  if (incidentIds.length === 0) return []
  return await query(
    tx,
    `SELECT coalesce(n.id, m.bundle_id) AS id, m.incident_id AS "incidentId", m.integration_id AS "integrationId",
            'digest' AS what, b.direction AS status, i.first_step AS step, coalesce(n.state, 'pending') AS state,
            CASE WHEN n.state = 'suppressed' AND n.error <> 'Overtaken' THEN n.attempts - 1 ELSE greatest(1, n.attempts) END
              AS attempts, coalesce(n.error = 'Overtaken', false) AS "isReplaced"
     FROM notification_bundle_members m JOIN notification_bundles b ON b.id = m.bundle_id JOIN incidents i ON i.id = m.incident_id
       LEFT JOIN notifications n ON n.bundle_id = m.bundle_id AND n.integration_id = m.integration_id
     WHERE m.incident_id = ANY(?::uuid[]) AND (m.included OR b.sent_at IS NULL) ORDER BY b.opened_at`,
    [incidentIds],
  )
}

/** The newest finishes of checks, oldest first; without those of sources that do not count. */
export async function finishesOf(tx: Knex, checkIds: readonly number[]): Promise<(Finish & { checkId: number })[]> {
  if (checkIds.length === 0) return []
  return await query(
    tx,
    `SELECT t.check_id AS "checkId", newest.at, newest.ok FROM unnest(?::bigint[]) AS t(check_id)
     CROSS JOIN LATERAL (
       SELECT n, ${microsOf('at')} AS at, type = 'success' AS ok FROM pings
       WHERE check_id = t.check_id AND type IN ('success', 'fail') AND ignored IS DISTINCT FROM 'source'
       ORDER BY n DESC LIMIT ?) newest
     ORDER BY t.check_id, newest.at, newest.n`,
    [checkIds, MAX_FINISHES],
  )
}

/** Changes between up and down of checks since an instant. */
export async function flipTimes(
  tx: Knex,
  checkIds: readonly number[],
  since: Micros,
): Promise<{ checkId: number; at: Micros }[]> {
  if (checkIds.length === 0) return []
  return await query(
    tx,
    `SELECT check_id AS "checkId", ${microsOf('at')} AS at FROM flips
     WHERE check_id = ANY(?::bigint[]) AND at > ${timestampOf('?::bigint')} AND to_status IN ('up', 'down')
     ORDER BY id DESC LIMIT 100000`,
    [checkIds, since],
  )
}
