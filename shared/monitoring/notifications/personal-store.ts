import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import { nextBundle } from '../contacts/bundles.ts'
import type { ContactKind } from '../contacts/contact-kinds.ts'
import {
  type ClaimedNotification,
  type FinishedAttempt,
  IS_OVER,
  MAY_ACKNOWLEDGE,
  stateAfter,
} from './attempt-store.ts'
import type { BundledNotification } from './personal-bundle.ts'
import { reevaluateIncidentsOf } from './store.ts'

/** The outcome of a message ends its notifications. If it is never stored, they become due after this time. */
const MEMBER_WAIT = '5 minutes'

export interface NotifiedProject {
  projectId: number
  projectUuid: string
  projectName: string
  organisationId: number
  /** the person may still see the project */
  isMember: boolean
}

const PROJECT_COLUMNS = columns<NotifiedProject>({
  projectId: 'p.id',
  projectUuid: 'p.uuid',
  projectName: 'p.name',
  organisationId: 'p.organisation_id',
  isMember: `EXISTS (SELECT FROM memberships m WHERE m.organisation_id = p.organisation_id AND m.user_id = n.user_id)`,
})

/** Returns the project of the incident; null if the incident was deleted. */
export async function projectOfNotification(db: Knex, id: string): Promise<NotifiedProject | null> {
  const [row] = await query(
    db,
    typed`SELECT ${PROJECT_COLUMNS} FROM notifications n
     JOIN incidents i ON i.id = n.incident_id JOIN projects p ON p.id = i.project_id WHERE n.id = ?::uuid`,
    [id],
  )
  return row ?? null
}

interface Leading {
  claimed: Pick<ClaimedNotification, 'id' | 'attempt'>
  methodId: string
  kind: ContactKind
  linkDigest: Buffer
  now: Micros
}

const OWN_COLUMNS = columns<{ isRetry: boolean; isMember: boolean }>({
  isRetry: 'coalesce(n.leader_id = n.id, false)',
  isMember: `EXISTS (SELECT FROM notifications l WHERE l.id = n.leader_id AND l.id <> n.id AND l.state = 'pending')`,
})
const METHOD_COLUMNS = columns<{ notifiedAt: Micros | null }>({ notifiedAt: microsOf('m.notified_at') })

/**
 * Makes a claimed notification the leader of a message, which includes all pending ones of its contact method. Returns
 * false if another message includes it, or if it must wait because the method got a message a short time ago. A retry
 * does not wait. The lock makes concurrent calls for the method wait.
 */
export async function leadBundle(tx: Knex, { claimed, methodId, kind, linkDigest, now }: Leading): Promise<boolean> {
  const [method] = await query(
    tx,
    typed`SELECT ${METHOD_COLUMNS} FROM contact_methods m WHERE m.id = ?::uuid FOR NO KEY UPDATE`,
    [methodId],
  )
  const [own] = await query(
    tx,
    typed`SELECT ${OWN_COLUMNS} FROM notifications n
     WHERE n.id = ?::uuid AND n.state = 'pending' AND n.attempts = ? AND n.lease_until > clock_timestamp()
     FOR NO KEY UPDATE`,
    [claimed.id, claimed.attempt],
  )
  if (!method || !own) return false
  if (own.isMember) {
    await execute(tx, `${PUT_BACK} next_attempt_at = now() + interval '${MEMBER_WAIT}' WHERE id = ?::uuid`, [
      claimed.id,
    ])
    return false
  }
  const next = own.isRetry ? null : nextBundle(kind, method.notifiedAt, [{ id: claimed.id, dueAt: now }])
  if (next && next.at > now) {
    await execute(tx, WAIT, [methodId, next.at, claimed.id])
    return false
  }
  await execute(tx, `UPDATE contact_methods SET notified_at = ${timestampOf('?::bigint')} WHERE id = ?::uuid`, [
    now,
    methodId,
  ])
  await execute(tx, JOIN, [methodId, claimed.id, claimed.id])
  await execute(tx, LEAD, [linkDigest, claimed.id])
  return true
}

const PUT_BACK = 'UPDATE notifications SET attempts = attempts - 1, lease_until = NULL, queued_until = NULL,'

/** Time in which the first notification after a wait includes the others. */
const FOLLOW = '5 seconds'

/**
 * Includes those that other attempts have claimed. None of them was tried, so each begins again. Only one becomes due
 * first: others that are claimed at that moment would be locked, so the message would not include them.
 */
const WAIT = `
  WITH waiting AS (
    SELECT id FROM notifications WHERE method_id = ?::uuid AND state = 'pending' AND leader_id IS NULL
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE notifications n SET attempts = 0, lease_until = NULL, queued_until = NULL,
    next_attempt_at = ${timestampOf('?::bigint')}
      + CASE WHEN n.id = ?::uuid THEN interval '0' ELSE interval '${FOLLOW}' END
  FROM waiting WHERE n.id = waiting.id`

/** A message that waits for its retry is replaced, so that its news does not arrive after newer news. */
const JOIN = `
  WITH free AS (
    SELECT n.id, n.leader_id IS NULL AND ${IS_OVER} AS is_over FROM notifications n
    LEFT JOIN notifications l ON l.id = n.leader_id
    WHERE n.method_id = ?::uuid AND n.state = 'pending' AND n.id <> ?::uuid
      AND (l.id IS NULL OR l.state <> 'pending' OR l.lease_until IS NULL OR l.lease_until < clock_timestamp())
      AND EXISTS (SELECT FROM incidents i JOIN projects p ON p.id = i.project_id JOIN memberships m
                    ON m.organisation_id = p.organisation_id AND m.user_id = n.user_id WHERE i.id = n.incident_id)
    ORDER BY n.id FOR NO KEY UPDATE OF n SKIP LOCKED)
  UPDATE notifications n SET lease_until = NULL, queued_until = NULL,
    leader_id = CASE WHEN is_over THEN NULL ELSE ?::uuid END,
    attempts = CASE WHEN is_over THEN 0 ELSE greatest(1, attempts) END,
    state = CASE WHEN is_over THEN 'suppressed' ELSE state END,
    error = CASE WHEN is_over THEN 'Superseded' ELSE error END,
    finished_at = CASE WHEN is_over THEN now() END,
    next_attempt_at = now() + interval '${MEMBER_WAIT}'
  FROM free WHERE n.id = free.id`

/** The leader has the link of all. */
const LEAD = `
  UPDATE notifications o SET leader_id = id, link_digest = CASE WHEN EXISTS (
    SELECT FROM notifications n WHERE (n.id = o.id OR n.leader_id = o.id) AND ${MAY_ACKNOWLEDGE}) THEN ?::bytea END
  WHERE id = ?::uuid`

const BUNDLED_COLUMNS = columns<BundledNotification>()(`
  n.check_status AS status, n.what, n.check_id, n.flip_id, n.incident_id, n.entry, n.detail, c.name, c.uuid AS checkUuid`)

/** Returns the newest notification of each check in a message, the most severe first. */
export async function bundledNotifications(db: Knex, leaderId: string): Promise<BundledNotification[]> {
  return await query(
    db,
    typed`SELECT ${BUNDLED_COLUMNS} FROM (
       SELECT DISTINCT ON (check_id) * FROM notifications WHERE leader_id = ?::uuid AND state = 'pending'
       ORDER BY check_id, created_at DESC, entry DESC) n
     JOIN checks c ON c.id = n.check_id JOIN incidents i ON i.id = n.incident_id
     ORDER BY array_position(ARRAY['critical', 'warning', 'info'], i.severity), c.name, c.id`,
    [leaderId],
  )
}

/**
 * Stores the outcome of a message for all its notifications. Ignores an attempt that a later one has replaced, unless it
 * was delivered. The caller has locked the contact method.
 */
export async function recordPersonalAttempt(tx: Knex, finished: Omit<FinishedAttempt, 'integrationId'>): Promise<void> {
  const { notificationId: id, attempt, startedAt, durationMs, outcome, retryInMs } = finished
  const state = stateAfter(finished)
  const error = outcome.result === 'delivered' ? '' : outcome.error
  if (state === 'failed' || state === 'suppressed')
    await execute(tx, reevaluateIncidentsOf(`IN (SELECT id FROM notifications WHERE ${OF_MESSAGE})`), [id, id])
  await execute(
    tx,
    `INSERT INTO notification_attempts (notification_id, n, started_at, duration_ms, outcome, error)
     SELECT id, ?, ${timestampOf('?::bigint')}, ?, ?, ? FROM notifications WHERE id = ?::uuid ON CONFLICT DO NOTHING`,
    [attempt, startedAt, durationMs, outcome.result, error, id],
  )
  await execute(
    tx,
    `WITH ended AS (
       SELECT id FROM notifications WHERE ${OF_MESSAGE} AND state = 'pending' AND EXISTS (
         SELECT FROM notifications l WHERE l.id = ?::uuid AND (l.attempts = ? OR ? = 'delivered'))
       ORDER BY id FOR NO KEY UPDATE)
     UPDATE notifications n SET state = ?, error = ?, lease_until = NULL, queued_until = NULL,
       next_attempt_at = now() + ?::float * interval '1 millisecond'
         + CASE WHEN n.id = ?::uuid THEN interval '0' ELSE interval '${MEMBER_WAIT}' END,
       finished_at = CASE WHEN ? = 'pending' THEN NULL ELSE now() END
     FROM ended WHERE n.id = ended.id`,
    [id, id, id, attempt, state, state, error, retryInMs ?? 0, id, state],
  )
}

const OF_MESSAGE = '(id = ?::uuid OR leader_id = ?::uuid)'

/** The other notifications of the withdrawn message are sent without it. */
export async function releaseMembers(db: Knex, leaderId: string): Promise<void> {
  await execute(
    db,
    `UPDATE notifications SET leader_id = NULL, attempts = 0, next_attempt_at = now()
     WHERE leader_id = ?::uuid AND id <> ?::uuid AND state = 'pending'`,
    [leaderId, leaderId],
  )
}
