import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { Source } from './on-call.ts'
import type { Recording } from './record.ts'

export interface RecordedShift {
  scheduleId: number
  person: string
  source: Source
  from: Micros
  /** null: the person is on call now */
  until: Micros | null
}

const COLUMNS = columns<RecordedShift>()(`
  schedule_id, person, source, ${microsOf('from_at')} AS from, ${microsOf('until_at')} AS until`)

/** Lists the shifts that overlap the time, in order. */
export async function recordedShifts(
  db: Knex,
  scheduleIds: readonly number[],
  from: Micros,
  until: Micros,
): Promise<RecordedShift[]> {
  const at = timestampOf('?::bigint')
  return await query(
    db,
    typed`SELECT ${COLUMNS} FROM shifts
     WHERE schedule_id = ANY(?::bigint[]) AND from_at < ${at} AND (until_at IS NULL OR until_at > ${at}) ORDER BY from_at`,
    [scheduleIds, until, from],
  )
}

export async function openShift(db: Knex, scheduleId: number): Promise<RecordedShift | null> {
  const sql = typed`SELECT ${COLUMNS} FROM shifts WHERE schedule_id = ? AND until_at IS NULL`
  const [row] = await query(db, sql, [scheduleId])
  return row ?? null
}

/** The caller has locked the schedule. A shift that ends where it began is deleted. */
export async function saveRecording(tx: Knex, scheduleId: number, { close, add }: Recording): Promise<void> {
  const at = timestampOf('?::bigint')
  if (close !== null) {
    const open = 'schedule_id = ? AND until_at IS NULL'
    await execute(tx, `DELETE FROM shifts WHERE ${open} AND from_at >= ${at}`, [scheduleId, close])
    await execute(tx, `UPDATE shifts SET until_at = ${at} WHERE ${open}`, [close, scheduleId])
  }
  for (const { person, source, from, until } of add) {
    await execute(
      tx,
      `INSERT INTO shifts (schedule_id, person, source, from_at, until_at) VALUES (?, ?, ?, ${at}, ${at})`,
      [scheduleId, person, source, from, until],
    )
  }
}

/** Returns the number of deleted rows. */
export async function pruneShifts(db: Knex, days: number, limit: number): Promise<number> {
  return await execute(
    db,
    `DELETE FROM shifts WHERE id IN
       (SELECT id FROM shifts WHERE until_at < now() - make_interval(days => ?::int) LIMIT ?)`,
    [days, limit],
  )
}

/** Counts the schedules of all organisations. */
export async function countUncovered(db: Knex): Promise<number> {
  const [row] = await query<{ count: number }>(
    db,
    `SELECT count(*)::int AS count FROM schedules s
     WHERE NOT EXISTS (SELECT FROM shifts WHERE schedule_id = s.id AND until_at IS NULL)`,
  )
  return row?.count ?? 0
}

interface Acknowledgements {
  by: string
  count: number
  /** from the beginning of the outage */
  medianSeconds: number | null
}

const ACKNOWLEDGEMENT_COLUMNS = columns<Acknowledgements>({
  by: 'first.by',
  count: 'count(*)::int',
  medianSeconds:
    'round(percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM first.at - first.down_at)))::int',
})

/**
 * Counts incidents of a project by the person who acknowledged them first. Reads events, because an incident forgets its
 * acknowledgement when it resolves. Omits acknowledgements that were undone.
 */
export async function acknowledgements(
  db: Knex,
  projectId: number,
  from: Micros,
  until: Micros,
): Promise<Acknowledgements[]> {
  const at = timestampOf('?::bigint')
  return await query(
    db,
    typed`SELECT ${ACKNOWLEDGEMENT_COLUMNS} FROM (
       SELECT DISTINCT ON (i.id) e.actor_name AS by, e.at, i.down_at
       FROM incidents i JOIN incident_events e ON e.incident_id = i.id
       WHERE i.project_id = ? AND i.down_at < ${at} AND (i.resolved_at IS NULL OR i.resolved_at >= ${at})
         AND e.kind IN ('ack', 'take', 'snooze') AND NOT EXISTS (
           SELECT FROM incident_events undone
           WHERE undone.incident_id = e.incident_id AND undone.kind = 'unack' AND undone.id > e.id)
       ORDER BY i.id, e.id) first
     WHERE first.at >= ${at} AND first.at < ${at} GROUP BY first.by`,
    [projectId, until, from, from, until],
  )
}

interface NotificationCounts {
  person: string
  count: number
  /** 22:00-06:00 in the zone of the schedule */
  nightCount: number
}

const COUNTED_COLUMNS = columns<NotificationCounts>({
  person: 'u.email',
  count: 'count(*)::int',
  nightCount: `(count(*) FILTER (WHERE (n.created_at AT TIME ZONE ?)::time NOT BETWEEN '06:00' AND '21:59:59.999999'))::int`,
})

/** Counts the delivered notifications about incidents of a project by person. */
export async function notificationCounts(
  db: Knex,
  { projectId, tz }: { projectId: number; tz: string },
  from: Micros,
  until: Micros,
): Promise<NotificationCounts[]> {
  const at = timestampOf('?::bigint')
  return await query(
    db,
    typed`SELECT ${COUNTED_COLUMNS} FROM notifications n JOIN incidents i ON i.id = n.incident_id JOIN users u ON u.id = n.user_id
     WHERE i.project_id = ? AND n.state = 'delivered' AND n.created_at >= ${at} AND n.created_at < ${at} GROUP BY u.email`,
    [tz, projectId, from, until],
  )
}
