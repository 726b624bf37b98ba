import type { Knex } from 'knex'
import type { FailedOutcome, Outcome } from '../../delivery/outcome.ts'
import { timestampOf } from '../../platform/database/instants.ts'
import { type Prepared, preparedTransaction } from '../../platform/database/prepared.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { NotificationDetail } from '../alerting/incident.ts'
import type { Summary } from './notification.ts'
import { reevaluateIncidentsOf } from './store.ts'

/** Longer than an attempt and its wait for a slot may take; afterwards the attempt is repeated. */
const LEASE = '90 seconds'

export interface ClaimedNotification {
  id: string
  /** null for a person */
  integrationId: number | null
  /** null for an integration, and after the deletion of the contact method */
  methodId: string | null
  checkId: number | null
  flipId: number | null
  status: 'up' | 'down'
  attempt: number
  what: 'flip' | 'test' | 'first' | 'repeat' | 'recovery' | 'flapping' | 'ack' | 'digest' | 'unknown' | 'shift'
  incidentId: string | null
  /** offset in the plan, seconds; for direct ones the number of the flip */
  entry: number
  detail: NotificationDetail | null
  summary: Summary | null
  /** an older message of the same check to the same integration is pending */
  hasOlder: boolean
  /**
   * true if a newer notification was sent, the incident was resolved or acknowledged before the first attempt, or the
   * acknowledgement of a notice ended
   */
  isSuperseded: boolean
}

const HAS_OLDER = `(n.what <> 'test' AND EXISTS (
    SELECT 1 FROM notifications o WHERE o.check_id = n.check_id AND o.integration_id = n.integration_id AND o.state = 'pending'
      AND o.what <> 'test' AND o.created_at < n.created_at)
  OR n.what = 'digest' AND EXISTS (
    SELECT 1 FROM notifications o WHERE o.integration_id = n.integration_id AND o.state = 'pending' AND o.what = 'digest'
      AND o.created_at < n.created_at))`

export type ClaimedForIntegration = ClaimedNotification & { integrationId: number }

/** An outage that is not news any more: `n` was not attempted before. */
export const IS_OVER = `EXISTS (SELECT 1 FROM incidents i WHERE i.id = n.incident_id AND (
    n.what IN ('first', 'repeat', 'flapping') AND i.state IN ('resolved', 'acknowledged')
    OR n.what = 'ack' AND i.state <> 'acknowledged'))`

const IS_SUPERSEDED = `(n.what <> 'test' AND (
    EXISTS (SELECT 1 FROM notifications o WHERE o.check_id = n.check_id
      AND (o.integration_id = n.integration_id OR o.method_id = n.method_id)
      AND o.created_at > n.created_at AND o.state <> 'pending' AND o.attempts > 0 AND o.what <> 'test')
    OR (n.attempts = 1 AND ${IS_OVER})))`

/** Recoveries, notices and tests have no link. */
export const MAY_ACKNOWLEDGE = `n.check_status = 'down' AND n.what IN ('first', 'repeat', 'flapping', 'digest')`

const CLAIMED_NOTIFICATION_COLUMNS = columns<ClaimedNotification>()(`
  n.id, n.integration_id, n.method_id, n.check_id, n.flip_id, n.check_status AS status, n.attempts AS attempt, n.what,
  n.incident_id, n.entry, n.detail, n.detail->'summary' AS summary, ${HAS_OLDER} AS hasOlder,
  ${IS_SUPERSEDED} AS isSuperseded`)

/**
 * Stores the link of messages about incidents. Returns one entry per id, in order: null if it is not due, claimed by another process, ended, or a repeated id. The
 * sweeper retries rows that another transaction has locked.
 */
export async function claimNotifications(
  db: Knex,
  requested: readonly { id: string; linkDigest: Buffer }[],
): Promise<(ClaimedNotification | null)[]> {
  const rows = await query(
    db,
    typed`WITH due AS (
       SELECT id FROM notifications
       WHERE id = ANY(?::uuid[]) AND state = 'pending' AND next_attempt_at <= now()
         AND (lease_until IS NULL OR lease_until < now())
       ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
     UPDATE notifications n SET attempts = attempts + 1, lease_until = now() + ?::interval,
       link_digest = CASE WHEN ${MAY_ACKNOWLEDGE} THEN t.link_digest END
     FROM due JOIN unnest(?::uuid[], ?::bytea[]) AS t(id, link_digest) ON t.id = due.id WHERE n.id = due.id
     RETURNING ${CLAIMED_NOTIFICATION_COLUMNS}`,
    [
      requested.map(({ id }) => id),
      LEASE,
      requested.map(({ id }) => id),
      requested.map(({ linkDigest }) => linkDigest),
    ],
  )
  const claims = new Map(rows.map((row) => [row.id, row]))
  return requested.map(({ id }) => {
    const claim = claims.get(id) ?? null
    claims.delete(id)
    return claim
  })
}

/** In order: if the lease was still valid. Call it right before sending, because a process may have slept. */
export async function renewLeases(
  db: Knex,
  attempts: readonly Pick<ClaimedNotification, 'id' | 'attempt'>[],
): Promise<boolean[]> {
  const rows = await query<{ place: number }>(
    db,
    `SELECT t.place FROM unnest(?::int[], ?::uuid[], ?::int[]) AS t(place, id, attempt)
     JOIN notifications n ON n.id = t.id
     WHERE n.state = 'pending' AND n.attempts = t.attempt AND n.lease_until > now()`,
    [attempts.map((_, place) => place), attempts.map(({ id }) => id), attempts.map(({ attempt }) => attempt)],
  )
  const suppression = new Set(rows.map(({ place }) => place))
  return attempts.map((_, place) => suppression.has(place))
}

/** Does not count the attempts, because their target has no free slot. */
export async function postponeNotifications(
  db: Knex,
  postponed: readonly { id: string; seconds: number }[],
): Promise<void> {
  await execute(
    db,
    `WITH put_back AS (
       SELECT n.id, t.seconds FROM unnest(?::uuid[], ?::float[]) AS t(id, seconds)
       JOIN notifications n ON n.id = t.id WHERE n.state = 'pending' ORDER BY n.id FOR NO KEY UPDATE OF n)
     UPDATE notifications SET attempts = attempts - 1, lease_until = NULL, queued_until = NULL,
       next_attempt_at = now() + make_interval(secs => put_back.seconds)
     FROM put_back WHERE notifications.id = put_back.id`,
    [postponed.map(({ id }) => id), postponed.map(({ seconds }) => seconds)],
  )
}

export interface FinishedAttempt {
  notificationId: string
  integrationId: number
  attempt: number
  startedAt: Micros
  durationMs: number
  outcome: Outcome
  retryInMs: number | null
}

/** Skips deleted rows. In order: if the attempt disabled its integration, only for the first of several. */
export async function recordAttempts(
  db: Knex,
  finished: readonly FinishedAttempt[],
): Promise<{ isDisabledNow: boolean }[]> {
  const enabled = await preparedTransaction(db, async (run) => {
    const locked = run(LOCK_INTEGRATIONS, [finished.map(({ integrationId }) => integrationId)])
    const lost = finished.filter(isLost).map(({ notificationId }) => notificationId)
    if (lost.length > 0) run.later(MAKE_DUE, [lost])
    run.later(RECORD, [
      finished.map(({ notificationId }) => notificationId),
      finished.map(({ integrationId }) => integrationId),
      finished.map(({ attempt }) => attempt),
      finished.map(({ startedAt }) => startedAt),
      finished.map(({ durationMs }) => durationMs),
      finished.map(({ outcome }) => outcome.result),
      finished.map(({ outcome }) => (outcome.result === 'delivered' ? '' : outcome.error)),
      finished.map(stateAfter),
      finished.map(({ retryInMs }) => retryInMs ?? 0),
    ])
    return new Set((await locked).map(({ id }) => id))
  })
  return finished.map(({ integrationId, outcome }) => ({
    isDisabledNow: outcome.result === 'permanent' && enabled.delete(integrationId),
  }))
}

/** Locks integrations in the order of ids and before notifications, as their deletion does. */
const LOCK_INTEGRATIONS: Prepared<{ id: number }> = {
  name: 'lock-integrations',
  text: `
    WITH locked AS MATERIALIZED (
      SELECT id, disabled_at FROM integrations WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE)
    SELECT id FROM locked WHERE disabled_at IS NULL`,
}

/** A failed notification may make the next escalation step due. Incidents are locked before notifications. */
const MAKE_DUE: Prepared = { name: 'make-incidents-due', text: reevaluateIncidentsOf('= ANY($1::uuid[])') }

const RECORD: Prepared = {
  name: 'record-attempts',
  text: `
    WITH finished AS MATERIALIZED (
      SELECT t.* FROM unnest($1::uuid[], $2::bigint[], $3::int[], $4::bigint[], $5::int[], $6::text[], $7::text[],
                             $8::text[], $9::float[])
        AS t(id, integration_id, n, started_at, duration_ms, outcome, error, state, retry_ms)
      JOIN notifications ON notifications.id = t.id ORDER BY t.id FOR NO KEY UPDATE OF notifications),
    logged AS (
      INSERT INTO notification_attempts (notification_id, n, started_at, duration_ms, outcome, error)
      SELECT id, n, ${timestampOf('started_at')}, duration_ms, outcome, error FROM finished ON CONFLICT DO NOTHING),
    -- An attempt that a later one has replaced is ignored, unless it was delivered.
    ended AS (
      UPDATE notifications SET state = f.state, error = f.error, lease_until = NULL, queued_until = NULL,
        next_attempt_at = now() + f.retry_ms * interval '1 millisecond',
        finished_at = CASE WHEN f.state = 'pending' THEN NULL ELSE now() END
      FROM finished f
      WHERE notifications.id = f.id AND notifications.state = 'pending'
        AND (notifications.attempts = f.n OR f.state = 'delivered')),
    latest AS (SELECT DISTINCT ON (integration_id) * FROM finished ORDER BY integration_id, started_at DESC)
    UPDATE integrations SET last_notify_at = ${timestampOf('latest.started_at')},
      last_notify_duration_ms = latest.duration_ms, last_error = latest.error,
      disabled_at = CASE WHEN EXISTS (SELECT FROM finished f WHERE f.integration_id = latest.integration_id AND f.outcome = 'permanent')
                         THEN coalesce(disabled_at, now()) ELSE disabled_at END
    FROM latest WHERE integrations.id = latest.integration_id`,
}

export function stateAfter({
  outcome,
  retryInMs,
}: Pick<FinishedAttempt, 'outcome' | 'retryInMs'>): 'delivered' | 'pending' | 'failed' | 'suppressed' {
  if (outcome.result === 'delivered') return 'delivered'
  return retryInMs === null ? endState(outcome) : 'pending'
}

function isLost(attempt: FinishedAttempt): boolean {
  const state = stateAfter(attempt)
  return state === 'failed' || state === 'suppressed'
}

function endState(outcome: FailedOutcome): 'failed' | 'suppressed' {
  return outcome.failure === 'limit' ? 'suppressed' : 'failed'
}
