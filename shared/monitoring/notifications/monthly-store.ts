import type { Knex } from 'knex'
import { transaction } from '../../platform/database/db.ts'
import { timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { MonthlyMeter } from './limits.ts'

export interface Reservation {
  notificationId: string
  /** the account: projects share its month */
  organisationId: number
  meter: MonthlyMeter
  month: Micros
}

const MONTHLY_COLUMNS = columns<{ taken: number; has: boolean }>()(`
  count(*) AS taken, coalesce(bool_or(notification_id = ?), false) AS has`)

/** Never exceeds `limit` concurrently. Deletions do not release a reservation. False if the limit is reached. */
export async function reserveMonthly(db: Knex, reservation: Reservation, limit: number): Promise<boolean> {
  const { notificationId, organisationId, meter, month } = reservation
  const ofMonth = `month = ${timestampOf('?::bigint')}`
  return await transaction(db, async (tx) => {
    // The next statement sees the reservations of transactions that had this lock earlier.
    await query(tx, 'SELECT 1 FROM organisations WHERE id = ? FOR NO KEY UPDATE', [organisationId])
    await execute(
      tx,
      `DELETE FROM monthly_sends WHERE organisation_id = ? AND meter = ? AND month < ${timestampOf('?::bigint')}`,
      [organisationId, meter, month],
    )
    const [row] = await query(
      tx,
      typed`SELECT ${MONTHLY_COLUMNS} FROM monthly_sends WHERE organisation_id = ? AND meter = ? AND ${ofMonth}`,
      [notificationId, organisationId, meter, month],
    )
    if (row?.has) return true
    if ((row?.taken ?? 0) >= limit) return false
    await execute(
      tx,
      `INSERT INTO monthly_sends (organisation_id, meter, month, notification_id) VALUES (?, ?, ${timestampOf('?::bigint')}, ?)`,
      [organisationId, meter, month, notificationId],
    )
    return true
  })
}

/** The message was not delivered; a later attempt reserves again. */
export async function releaseMonthly(
  db: Knex,
  { notificationId, organisationId, meter, month }: Reservation,
): Promise<void> {
  await execute(
    db,
    `DELETE FROM monthly_sends
     WHERE organisation_id = ? AND meter = ? AND month = ${timestampOf('?::bigint')} AND notification_id = ?`,
    [organisationId, meter, month, notificationId],
  )
}

const MONTHLY_USAGE_COLUMNS = columns<{ projectId: number; meter: MonthlyMeter; taken: number }>()(`
  p.id AS projectId, s.meter, count(*) AS taken`)

export async function monthlyUsage(
  db: Knex,
  projectIds: readonly number[],
  month: Micros,
): Promise<{ projectId: number; meter: MonthlyMeter; taken: number }[]> {
  return await query(
    db,
    typed`SELECT ${MONTHLY_USAGE_COLUMNS} FROM projects p JOIN monthly_sends s ON s.organisation_id = p.organisation_id
     WHERE p.id = ANY(?::bigint[]) AND s.month = ${timestampOf('?::bigint')} GROUP BY p.id, s.meter`,
    [projectIds, month],
  )
}
