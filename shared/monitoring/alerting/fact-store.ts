import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { StoredStatus } from '../checks/check.ts'
import { settingColumns } from '../checks/columns-store.ts'
import { SCHEDULE_FIELDS } from '../checks/fields.ts'
import { type FailingCheck, MAX_RESULTS, type RunResult } from './failures.ts'
import { hasWaitingFlip } from './flip-store.ts'
import type { AlertNotification } from './incident.ts'

/** The fields of a check that the alerter needs. */
export interface AlertedCheck extends FailingCheck {
  id: number
  uuid: string
  projectId: number
  name: string
  tags: string
  status: StoredStatus
  /** read in the same snapshot as the status; only computed for checks with a due incident */
  hasFlip: boolean
}

const ALERTED_CHECK_COLUMNS = columns<AlertedCheck>({
  id: 'id',
  uuid: 'uuid',
  projectId: 'project_id',
  name: 'name',
  tags: 'tags',
  status: 'status',
  ...settingColumns(SCHEDULE_FIELDS, 'checks'),
  earlySeconds: 'early_seconds',
  lastPing: microsOf('last_ping'),
  lastDuration: 'last_duration_us',
  hasFlip: `id = ANY(?::bigint[]) AND ${hasWaitingFlip('checks.id')}`,
})

/** `due` are the checks that are read only because their incident is due. */
export async function alertedChecks(
  tx: Knex,
  checkIds: readonly number[],
  due: readonly number[],
): Promise<AlertedCheck[]> {
  return await query(tx, typed`SELECT ${ALERTED_CHECK_COLUMNS} FROM checks WHERE id = ANY(?::bigint[])`, [
    due,
    checkIds,
  ])
}

export interface AlertedIntegration {
  id: number
  uuid: string
  projectId: number
  kind: string
  sealedConfig: string
  isDisabled: boolean
}

const ALERTED_INTEGRATION_COLUMNS = columns<AlertedIntegration>()(`
  id, uuid, project_id, kind, sealed_config, disabled_at IS NOT NULL AS isDisabled`)

/** Returns the fastest integrations first, so that a slow one does not delay the others. */
export async function alertedIntegrations(
  tx: Knex,
  ids: readonly number[],
  uuids: readonly string[],
): Promise<AlertedIntegration[]> {
  return await query(
    tx,
    typed`SELECT ${ALERTED_INTEGRATION_COLUMNS} FROM integrations WHERE id = ANY(?::bigint[]) OR uuid = ANY(?::uuid[])
     ORDER BY last_notify_duration_ms NULLS LAST, id`,
    [ids, uuids],
  )
}

const ASSIGNMENTS_COLUMNS = columns<{ checkId: number; integrationId: number }>()('check_id, integration_id')

export async function assignmentsOf(
  tx: Knex,
  checkIds: readonly number[],
): Promise<{ checkId: number; integrationId: number }[]> {
  return await query(
    tx,
    typed`SELECT ${ASSIGNMENTS_COLUMNS} FROM check_integrations WHERE check_id = ANY(?::bigint[])`,
    [checkIds],
  )
}

/** A notification of an integration or of a person. */
export interface AlertRow extends Omit<AlertNotification, 'integrationId'> {
  incidentId: string
  integrationId: number | null
  userId: number | null
  methodId: string | null
}

const NOTIFICATIONS_COLUMNS = columns<AlertRow>()(`
  id, incident_id, integration_id, user_id, method_id, what, check_status AS status, (detail->>'step')::integer AS step, state,
  attempts - (state = 'suppressed' AND error <> 'Superseded')::integer AS attempts, entry, error = 'Superseded' AS isReplaced`)

/** Oldest first. A notification that a limit suppressed counts as not attempted. */
export async function lockNotifications(tx: Knex, incidentIds: readonly string[]): Promise<AlertRow[]> {
  if (incidentIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${NOTIFICATIONS_COLUMNS}
     FROM notifications WHERE incident_id = ANY(?::uuid[]) ORDER BY created_at, id FOR UPDATE`,
    [incidentIds],
  )
}

const DIGESTS_COLUMNS = columns<AlertNotification & { incidentId: string }>()(`
  coalesce(n.id, m.bundle_id) AS id, m.incident_id, m.integration_id, 'digest' AS what, b.direction AS status,
  i.first_step AS step, coalesce(n.state, 'pending') AS state,
  CASE WHEN n.state = 'suppressed' AND n.error <> 'Superseded' THEN n.attempts - 1 ELSE greatest(1, n.attempts) END AS attempts,
  0 AS entry, coalesce(n.error = 'Superseded', false) AS isReplaced`)

/** Returns digests as notifications. A sent digest counts as attempted, unless a limit suppressed it. */
export async function digestsOf(
  tx: Knex,
  incidentIds: readonly string[],
): Promise<(AlertNotification & { incidentId: string })[]> {
  if (incidentIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${DIGESTS_COLUMNS}
     FROM notification_bundle_members m JOIN notification_bundles b ON b.id = m.bundle_id JOIN incidents i ON i.id = m.incident_id
       LEFT JOIN notifications n ON n.bundle_id = m.bundle_id AND n.integration_id = m.integration_id
     WHERE m.incident_id = ANY(?::uuid[]) AND (m.included OR b.sent_at IS NULL) ORDER BY b.opened_at`,
    [incidentIds],
  )
}

const RESULTS_COLUMNS = columns<RunResult & { checkId: number }>()('t.check_id, newest.at, newest.ok')

/** Returns the newest success and fail pings of each check, oldest first. Omits pings of sources that do not count. */
export async function recentResultsOf(
  tx: Knex,
  checkIds: readonly number[],
): Promise<(RunResult & { checkId: number })[]> {
  if (checkIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${RESULTS_COLUMNS} FROM unnest(?::bigint[]) AS t(check_id)
     CROSS JOIN LATERAL (
       SELECT n, ${microsOf('at')} AS at, type = 'success' AS ok FROM pings
       WHERE check_id = t.check_id AND type IN ('success', 'fail') AND ignored IS DISTINCT FROM 'source'
       ORDER BY n DESC LIMIT ?) newest
     ORDER BY t.check_id, newest.at, newest.n`,
    [checkIds, MAX_RESULTS],
  )
}

const FLIP_TIMES_COLUMNS = columns<{ checkId: number; at: Micros }>({ checkId: 'check_id', at: microsOf('at') })

export async function flipTimes(
  tx: Knex,
  checkIds: readonly number[],
  since: Micros,
): Promise<{ checkId: number; at: Micros }[]> {
  if (checkIds.length === 0) return []
  return await query(
    tx,
    typed`SELECT ${FLIP_TIMES_COLUMNS} FROM flips
     WHERE check_id = ANY(?::bigint[]) AND at > ${timestampOf('?::bigint')} AND to_status IN ('up', 'down')
     ORDER BY id DESC LIMIT 100000`,
    [checkIds, since],
  )
}
