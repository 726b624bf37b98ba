import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { NamedIncident } from './shift-notices.ts'

const AT = timestampOf('?::bigint')
/** A message that no notifier received is published again after this time. */
const QUEUED = '1 minute'
/** Afterwards an attempt counts as failed, because its process ended. */
const LEASE = '2 minutes'

/** Locks a schedule whose notices may be due; null if there is none that no other process has locked. */
export async function lockNoticeSchedule(tx: Knex, now: Micros): Promise<number | null> {
  const [row] = await query<{ id: number }>(
    tx,
    `SELECT id FROM schedules WHERE next_change_at > ${AT} AND (next_notice_at IS NULL OR next_notice_at <= ${AT})
     ORDER BY next_notice_at NULLS FIRST LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [now, now],
  )
  return row?.id ?? null
}

interface NoticeTimes {
  noticedUntil: Micros
  announcedAt: Micros | null
}

const TIME_COLUMNS = columns<NoticeTimes>({
  noticedUntil: microsOf('noticed_until'),
  announcedAt: microsOf('announced_at'),
})

export async function noticeTimes(tx: Knex, scheduleId: number): Promise<NoticeTimes> {
  const [row] = await query(tx, typed`SELECT ${TIME_COLUMNS} FROM schedules WHERE id = ?`, [scheduleId])
  if (!row) throw new Error('a locked row is found')
  return row
}

export async function saveNoticeTimes(
  tx: Knex,
  scheduleId: number,
  { noticedUntil, announcedAt, nextAt }: NoticeTimes & { nextAt: Micros },
): Promise<void> {
  await execute(
    tx,
    `UPDATE schedules SET noticed_until = ${AT}, announced_at = ${AT}, next_notice_at = ${AT} WHERE id = ?`,
    [noticedUntil, announcedAt, nextAt, scheduleId],
  )
}

interface NewNotice {
  userId: number
  scheduleId: number
  /** a second notice of this key is not created */
  key: string
  title: string
  text: string
  usesRules: boolean
  ignoresQuiet: boolean
  expiresAt: Micros
}

/** Skips notices that exist. */
export async function insertNotices(tx: Knex, notices: readonly NewNotice[]): Promise<void> {
  for (const { userId, scheduleId, key, title, text, usesRules, ignoresQuiet, expiresAt } of notices) {
    await execute(
      tx,
      `INSERT INTO personal_notices (user_id, schedule_id, key, title, text, uses_rules, ignores_quiet, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ${AT}) ON CONFLICT (schedule_id, user_id, key) DO NOTHING`,
      [userId, scheduleId, key, title, text, usesRules, ignoresQuiet, expiresAt],
    )
  }
}

/** Deletes notices that were not sent. */
export async function withdrawNotices(tx: Knex, scheduleId: number, keyPrefix: string): Promise<void> {
  const sql = `DELETE FROM personal_notices WHERE schedule_id = ? AND state <> 'done' AND starts_with(key, ?)`
  await execute(tx, sql, [scheduleId, keyPrefix])
}

export interface UnaddressedNotice {
  id: string
  userId: number
  key: string
  usesRules: boolean
  ignoresQuiet: boolean
}

const UNADDRESSED_COLUMNS = columns<UnaddressedNotice>()('id, user_id, key, uses_rules, ignores_quiet')

/** Locks notices without a contact method. */
export async function lockUnaddressed(tx: Knex, limit: number): Promise<UnaddressedNotice[]> {
  return await query(
    tx,
    typed`SELECT ${UNADDRESSED_COLUMNS} FROM personal_notices WHERE state = 'new'
     ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED`,
    [limit],
  )
}

/** Sends a notice by the first contact method, and copies of it by the others. Without one the notice ends. */
export async function addressNotice(
  tx: Knex,
  { id, key }: Pick<UnaddressedNotice, 'id' | 'key'>,
  entries: readonly { method: string; dueAt: Micros }[],
): Promise<void> {
  const [first, ...others] = entries
  if (!first) return await endNotice(tx, id)
  const sql = `UPDATE personal_notices SET state = 'pending', method_id = ?::uuid, due_at = ${AT} WHERE id = ?::uuid`
  await execute(tx, sql, [first.method, first.dueAt, id])
  for (const [index, { method, dueAt }] of others.entries()) {
    await execute(
      tx,
      `INSERT INTO personal_notices (user_id, schedule_id, key, title, text, uses_rules, state, method_id, due_at, expires_at)
       SELECT user_id, schedule_id, ?, title, text, uses_rules, 'pending', ?::uuid, ${AT}, expires_at
       FROM personal_notices WHERE id = ?::uuid`,
      [`${key} ${index + 2}`, method, dueAt, id],
    )
  }
}

const TAKEN_COLUMNS = columns<{ id: string; methodId: string | null }>()('id, method_id')

/** The caller publishes the returned ids. Expired notices end. */
export async function claimDueNotices(
  tx: Knex,
  now: Micros,
  limit: number,
): Promise<{ id: string; methodId: string | null }[]> {
  await execute(tx, `UPDATE personal_notices SET state = 'done' WHERE state <> 'done' AND expires_at <= ${AT}`, [now])
  return await query(
    tx,
    typed`UPDATE personal_notices SET queued_until = ${AT} + ?::interval
     WHERE id IN (SELECT id FROM personal_notices
                  WHERE state = 'pending' AND due_at <= ${AT} AND (queued_until IS NULL OR queued_until < ${AT})
                  ORDER BY due_at LIMIT ? FOR UPDATE SKIP LOCKED)
     RETURNING ${TAKEN_COLUMNS}`,
    [now, QUEUED, now, now, limit],
  )
}

export interface ClaimedNotice {
  title: string
  text: string
  scheduleUuid: string
  projectUuid: string
}

const CLAIMED_COLUMNS = columns<ClaimedNotice>()(`
  n.title, n.text, s.uuid AS scheduleUuid, p.uuid AS projectUuid`)

/** Null if the notice was sent, withdrawn or is being sent. */
export async function claimNotice(db: Knex, id: string): Promise<ClaimedNotice | null> {
  const [row] = await query(
    db,
    typed`UPDATE personal_notices n SET attempts = attempts + 1, due_at = now() + ?::interval
     FROM schedules s JOIN projects p ON p.id = s.project_id
     WHERE n.id = ?::uuid AND n.state = 'pending' AND n.due_at <= now() AND n.expires_at > now() AND s.id = n.schedule_id
     RETURNING ${CLAIMED_COLUMNS}`,
    [LEASE, id],
  )
  return row ?? null
}

export async function noticeAttempts(db: Knex, id: string): Promise<number> {
  const sql = 'SELECT attempts FROM personal_notices WHERE id = ?::uuid'
  const [row] = await query<{ attempts: number }>(db, sql, [id])
  return row?.attempts ?? 0
}

export async function postponeNotice(db: Knex, id: string, ms: number): Promise<void> {
  await execute(
    db,
    `UPDATE personal_notices SET due_at = now() + make_interval(secs => ?::float8 / 1000), queued_until = NULL
     WHERE id = ?::uuid`,
    [ms, id],
  )
}

export async function endNotice(db: Knex, id: string): Promise<void> {
  await execute(db, `UPDATE personal_notices SET state = 'done' WHERE id = ?::uuid`, [id])
}

/** Returns the number of deleted rows. Keys of shifts are not used again later. */
export async function pruneNotices(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM personal_notices WHERE id IN
       (SELECT id FROM personal_notices WHERE state = 'done' AND created_at < now() - make_interval(days => ?::int) LIMIT ?)`,
    [days, limit],
  )
}

const INCIDENT_COLUMNS = columns<NamedIncident>({
  name: "coalesce(nullif(c.name, ''), c.uuid::text)",
  ackBy: 'i.ack_by',
})

/** Lists open incidents of policies with a step that names the schedule; those not acknowledged first. */
export async function openIncidentsOf(
  db: Knex,
  { organisationId, uuid }: { organisationId: number; uuid: string },
): Promise<NamedIncident[]> {
  return await query(
    db,
    typed`SELECT ${INCIDENT_COLUMNS} FROM incidents i JOIN checks c ON c.id = i.check_id
       JOIN alert_policies a ON a.id = i.policy_id JOIN projects p ON p.id = a.project_id
     WHERE p.organisation_id = ? AND i.resolved_at IS NULL AND i.state IN ('alerting', 'acknowledged') AND i.lead_id IS NULL
       AND EXISTS (SELECT FROM jsonb_path_query(a.plan, '$.**.schedule') AS named WHERE named = to_jsonb(?::text))
     ORDER BY i.state = 'acknowledged', i.n LIMIT 50`,
    [organisationId, uuid],
  )
}
