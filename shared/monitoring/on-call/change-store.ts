import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { WindowTime } from '../maintenance/window.ts'

const AT = timestampOf('?::bigint')

interface ShiftChange {
  scheduleId: number
  userId: number
  /** shifts of the person before the first edit, up to `until` */
  before: readonly WindowTime[]
  until: Micros
}

const COLUMNS = columns<ShiftChange>()(`schedule_id, user_id, before, ${microsOf('until_at')} AS until`)

/** After a second edit, `before` remains that of the first one, and the mail waits longer. */
export async function insertShiftChange(
  tx: Knex,
  { scheduleId, userId, before, until }: ShiftChange,
  dueAt: Micros,
): Promise<void> {
  await execute(
    tx,
    `INSERT INTO shift_changes (schedule_id, user_id, before, until_at, due_at) VALUES (?, ?, ?::jsonb, ${AT}, ${AT})
     ON CONFLICT (schedule_id, user_id) DO UPDATE SET due_at = excluded.due_at`,
    [scheduleId, userId, JSON.stringify(before), until, dueAt],
  )
}

/** Returns null if none is due that another process has not locked. */
export async function claimShiftChange(tx: Knex, now: Micros): Promise<ShiftChange | null> {
  const [row] = await query(
    tx,
    typed`DELETE FROM shift_changes WHERE (schedule_id, user_id) =
       (SELECT schedule_id, user_id FROM shift_changes WHERE due_at <= ${AT} ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING ${COLUMNS}`,
    [now],
  )
  return row ?? null
}
