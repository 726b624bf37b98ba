import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { FailedOutcome, Outcome } from '../../delivery/outcome.ts'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { execute, query } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { FlipReason, NotifiedPing } from './notification.ts'

/** Longer than any attempt may take: an attempt whose process died is made again after it. */
const LEASE = '90 seconds'
/** Longer than a message usually waits for a notifier: the sweeper sends another only after it. */
export const QUEUED = '60 seconds'

/** @returns the ids of the new notifications; a channel that has one for this flip already gets no second */
export async function insertNotifications(
  tx: Knex,
  notified: { flipId: number | null; checkId: number | null; status: 'up' | 'down' },
  channelIds: readonly number[],
): Promise<string[]> {
  const rows = await query<{ id: string }>(
    tx,
    `INSERT INTO notifications (id, channel_id, check_id, flip_id, check_status, next_attempt_at, queued_until)
     SELECT id, channel_id, ?::bigint, ?::bigint, ?, now(), now() + ?::interval
     FROM unnest(?::uuid[], ?::bigint[]) AS t(id, channel_id)
     ON CONFLICT (flip_id, channel_id) WHERE flip_id IS NOT NULL DO NOTHING RETURNING id`,
    [notified.checkId, notified.flipId, notified.status, QUEUED, channelIds.map(() => randomUUID()), channelIds],
  )
  return rows.map(({ id }) => id)
}

export interface ClaimedNotification {
  id: string
  channelId: number
  checkId: number | null
  flipId: number | null
  status: 'up' | 'down'
  /** this attempt's number, from 1 */
  attempt: number
}

/**
 * Takes one attempt in flight, for as long as the lease lasts.
 * @returns null when it is not due, in other hands, or ended
 */
export async function claimNotification(db: Knex, id: string): Promise<ClaimedNotification | null> {
  const rows = await query<ClaimedNotification>(
    db,
    `UPDATE notifications SET attempts = attempts + 1, lease_until = now() + ?::interval
     WHERE id = ? AND state = 'pending' AND next_attempt_at <= now() AND (lease_until IS NULL OR lease_until < now())
     RETURNING id, channel_id AS "channelId", check_id AS "checkId", flip_id AS "flipId", check_status AS status,
               attempts AS attempt`,
    [LEASE, id],
  )
  return rows[0] ?? null
}

/**
 * Whether an attempt is still in the hands of whoever claimed it. Asked right before the outside world is told: a process
 * that was frozen in between finds that its lease ran out, and that another attempt has taken its place.
 */
export async function holdsLease(db: Knex, { id, attempt }: ClaimedNotification): Promise<boolean> {
  const rows = await query(
    db,
    `SELECT 1 FROM notifications WHERE id = ? AND state = 'pending' AND attempts = ? AND lease_until > now()`,
    [id, attempt],
  )
  return rows.length === 1
}

/** Puts a claimed attempt back uncounted, because its target is busy with others. */
export async function postponeNotification(db: Knex, id: string, seconds: number): Promise<void> {
  await execute(
    db,
    `UPDATE notifications SET attempts = attempts - 1, lease_until = NULL, queued_until = NULL,
       next_attempt_at = now() + make_interval(secs => ?::float) WHERE id = ? AND state = 'pending'`,
    [seconds, id],
  )
}

/** Marks due notifications as queued again, some at a time. @returns their ids; several sweepers never take the same */
export async function takeDueNotifications(db: Knex, limit: number): Promise<string[]> {
  const rows = await query<{ id: string }>(
    db,
    `UPDATE notifications SET queued_until = now() + ?::interval
     WHERE id IN (SELECT id FROM notifications
                  WHERE state = 'pending' AND next_attempt_at <= now()
                    AND (queued_until IS NULL OR queued_until < now()) AND (lease_until IS NULL OR lease_until < now())
                  ORDER BY next_attempt_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [QUEUED, limit],
  )
  return rows.map(({ id }) => id)
}

/** Seconds for which the longest-waiting notification has been due; 0 when none is. */
export async function oldestDueNotification(db: Knex): Promise<number> {
  const [row] = await query<{ age: number | null }>(
    db,
    `SELECT extract(epoch FROM now() - min(next_attempt_at))::float AS age FROM notifications WHERE state = 'pending'`,
  )
  return Math.max(0, row?.age ?? 0)
}

export interface FinishedAttempt {
  notificationId: string
  channelId: number
  attempt: number
  startedAt: Micros
  durationMs: number
  outcome: Outcome
  /** null when there is nothing more to try */
  retryInMs: number | null
}

/** Stores how an attempt ended: the attempt, the notification's state, and what the integration shows of itself. */
export async function recordAttempt(tx: Knex, finished: FinishedAttempt): Promise<void> {
  const { outcome, retryInMs } = finished
  const error = outcome.result === 'delivered' ? '' : outcome.error
  await execute(
    tx,
    `INSERT INTO notification_attempts (notification_id, n, started_at, duration_ms, outcome, error)
     VALUES (?, ?, ${timestampOf('?::bigint')}, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [finished.notificationId, finished.attempt, finished.startedAt, finished.durationMs, outcome.result, error],
  )
  const state = outcome.result === 'delivered' ? 'delivered' : retryInMs === null ? endState(outcome) : 'pending'
  await execute(
    tx,
    `UPDATE notifications SET state = ?, error = ?, lease_until = NULL, queued_until = NULL,
       next_attempt_at = now() + make_interval(secs => ?::float),
       finished_at = CASE WHEN ? = 'pending' THEN NULL ELSE now() END
     WHERE id = ? AND state = 'pending' AND (attempts = ? OR ? = 'delivered')`,
    // An attempt that another has overtaken has no say any more, except that what was delivered was delivered.
    [state, error, (retryInMs ?? 0) / 1000, state, finished.notificationId, finished.attempt, state],
  )
  await execute(
    tx,
    `UPDATE channels SET last_notify_at = ${timestampOf('?::bigint')}, last_notify_duration_ms = ?, last_error = ?,
       disabled_at = CASE WHEN ?::boolean THEN coalesce(disabled_at, now()) ELSE disabled_at END
     WHERE id = ?`,
    [finished.startedAt, finished.durationMs, error, outcome.result === 'permanent', finished.channelId],
  )
}

/** What a limit kept back was never attempted. */
function endState(outcome: FailedOutcome): 'failed' | 'suppressed' {
  return outcome.failure === 'limit' ? 'suppressed' : 'failed'
}

export interface ChannelForSending {
  uuid: string
  kind: string
  name: string
  sealedConfig: string
  isEmailVerified: boolean
  projectId: number
  projectName: string
}

export async function channelForSending(db: Knex, channelId: number): Promise<ChannelForSending | null> {
  const rows = await query<ChannelForSending>(
    db,
    `SELECT c.uuid, c.kind, c.name, c.sealed_config AS "sealedConfig", c.email_verified AS "isEmailVerified",
            p.id AS "projectId", p.name AS "projectName"
     FROM channels c JOIN projects p ON p.id = c.project_id WHERE c.id = ?`,
    [channelId],
  )
  return rows[0] ?? null
}

export interface FlipForSending {
  at: Micros
  reason: FlipReason
  checkUuid: string
  /** when the outage began that this flip ended; null unless the flip before went to down */
  downSince: Micros | null
}

export async function flipForSending(db: Knex, flipId: number): Promise<FlipForSending | null> {
  const rows = await query<FlipForSending>(
    db,
    `SELECT ${microsOf('f.at')} AS at, f.reason, c.uuid AS "checkUuid", before.at AS "downSince"
     FROM flips f JOIN checks c ON c.id = f.check_id
     LEFT JOIN LATERAL (
       SELECT CASE WHEN p.to_status = 'down' THEN ${microsOf('p.at')} END AS at FROM flips p
       WHERE p.check_id = f.check_id AND p.id < f.id ORDER BY p.id DESC LIMIT 1) before ON true
     WHERE f.id = ?`,
    [flipId],
  )
  return rows[0] ?? null
}

/** The newest ping not later than an instant: a message never shows one that came after the deadline. */
export async function lastPingUntil(db: Knex, checkId: number, until: Micros): Promise<NotifiedPing | null> {
  const rows = await query<NotifiedPing>(
    db,
    `SELECT n, type, ${microsOf('at')} AS at, scheme, remote_addr AS "remoteAddr", method, ua,
            exit_status AS "exitStatus", body
     FROM pings WHERE check_id = ? AND at <= ${timestampOf('?::bigint')} ORDER BY n DESC LIMIT 1`,
    [checkId, until],
  )
  return rows[0] ?? null
}

/** Messages that a project's integrations of some kinds sent since an instant; for monthly limits. */
export async function countSentSince(
  db: Knex,
  projectId: number,
  kinds: readonly string[],
  since: Micros,
): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM notifications n JOIN channels c ON c.id = n.channel_id
     WHERE c.project_id = ? AND c.kind = ANY(?::text[]) AND n.state = 'delivered'
       AND n.created_at >= ${timestampOf('?::bigint')}`,
    [projectId, kinds, since],
  )
  return row?.count ?? 0
}
