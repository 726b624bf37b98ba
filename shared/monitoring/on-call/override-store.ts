import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { OverrideFields } from './read-override.ts'
import type { Override } from './schedule.ts'

export interface StoredOverride extends Override {
  id: number
  uuid: string
  scheduleId: number
  scheduleUuid: string
  note: string
  createdBy: string
}

const COLUMNS = columns<StoredOverride>()(`
  o.id, o.uuid, o.schedule_id, s.uuid AS scheduleUuid, o.number, o.person, o.replaces, ${microsOf('o.starts_at')} AS start,
  ${microsOf('o.ends_at')} AS end, o.note, o.created_by`)

/** Lists overrides that have not ended at `since`, in the order of creation. */
export async function overridesOf(db: Knex, scheduleIds: readonly number[], since: Micros): Promise<StoredOverride[]> {
  return await query(
    db,
    typed`SELECT ${COLUMNS} FROM overrides o JOIN schedules s ON s.id = o.schedule_id
     WHERE o.schedule_id = ANY(?::bigint[]) AND o.ends_at > ${timestampOf('?::bigint')} ORDER BY o.number`,
    [scheduleIds, since],
  )
}

export async function findOverride(db: Knex, projectId: number, uuid: string): Promise<StoredOverride | null> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM overrides o JOIN schedules s ON s.id = o.schedule_id
     WHERE s.project_id = ? AND o.uuid = ?::uuid`,
    [projectId, uuid],
  )
  return row ?? null
}

/** The caller has locked the schedule. */
export async function insertOverride(
  tx: Knex,
  scheduleId: number,
  { person, replaces, start, end, note }: OverrideFields,
  { createdBy, swapId = null, uuid = null }: { createdBy: string; swapId?: number | null; uuid?: string | null },
): Promise<StoredOverride> {
  const [counter] = await query<{ number: number }>(
    tx,
    'UPDATE schedules SET override_count = override_count + 1 WHERE id = ? RETURNING override_count AS number',
    [scheduleId],
  )
  const at = timestampOf('?::bigint')
  const [row] = await query(
    tx,
    typed`WITH o AS (
       INSERT INTO overrides (uuid, schedule_id, swap_id, number, person, replaces, starts_at, ends_at, note, created_by)
       VALUES (coalesce(?::uuid, gen_random_uuid()), ?, ?, ?, ?, ?, ${at}, ${at}, ?, ?) RETURNING *)
     SELECT ${COLUMNS} FROM o JOIN schedules s ON s.id = o.schedule_id`,
    [uuid, scheduleId, swapId, counter?.number ?? 0, person, replaces, start, end, note, createdBy],
  )
  if (!row) throw new Error('an inserted row is returned')
  return row
}

export async function deleteOverride(tx: Knex, id: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM overrides WHERE id = ?', [id])) === 1
}

/** Their time in the past stays in the recorded shifts. */
export async function deleteOverridesOfSwap(tx: Knex, swapId: number): Promise<void> {
  await execute(tx, 'DELETE FROM overrides WHERE swap_id = ?', [swapId])
}
