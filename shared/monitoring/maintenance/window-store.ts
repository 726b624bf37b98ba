import type { Knex } from 'knex'
import { microsOf, timestampOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'
import type { WindowFields } from './read-window.ts'
import type { Window, WindowTime } from './window.ts'

export interface StoredWindow extends Window {
  id: number
  projectId: number
}

interface Row extends Omit<StoredWindow, 'time'> {
  starts: Micros | null
  ends: Micros | null
  every: string | null
  for: number | null
  tz: string
  cuts: WindowTime[]
}

const COLUMNS = columns<Row>()(`
  id, uuid, project_id, name, match, checks::text[] AS checks, ${microsOf('starts_at')} AS starts,
  ${microsOf('ends_at')} AS ends, every, for_seconds AS for, tz, cuts, uptime, shown`)

function windowOf({ starts, ends, every, for: length, tz, cuts, ...row }: Row): StoredWindow {
  if (every === null) return { ...row, time: { starts: starts ?? 0, ends: ends ?? 0 } }
  return { ...row, time: { every, for: length ?? 0, tz, ...(cuts.length > 0 && { cuts }) } }
}

export async function windowsOf(db: Knex, projectIds: readonly number[]): Promise<StoredWindow[]> {
  const sql = typed`SELECT ${COLUMNS} FROM maintenance_windows WHERE project_id = ANY(?::bigint[]) ORDER BY id DESC`
  return (await query(db, sql, [projectIds])).map(windowOf)
}

export async function findWindow(db: Knex, projectId: number, uuid: string): Promise<StoredWindow | null> {
  const sql = typed`SELECT ${COLUMNS} FROM maintenance_windows WHERE project_id = ? AND uuid = ?::uuid`
  const [row] = await query(db, sql, [projectId, uuid])
  return row ? windowOf(row) : null
}

/** Updates by id, or creates. Returns null if the window was deleted. */
export async function saveWindow(
  tx: Knex,
  projectId: number,
  identity: { id: number } | { uuid: string | null },
  { name, match, checks, time, uptime, shown }: WindowFields,
): Promise<StoredWindow | null> {
  const once = 'starts' in time ? time : null
  const again = 'starts' in time ? null : time
  const values = [
    name,
    match,
    checks,
    once?.starts ?? null,
    once?.ends ?? null,
    again?.every ?? null,
    again?.for ?? null,
    again?.tz ?? 'UTC',
    JSON.stringify(again?.cuts ?? []),
    uptime,
    shown,
  ]
  const at = timestampOf('?::bigint')
  const placed = `?, ?, ?::uuid[], ${at}, ${at}, ?, ?::int, ?, ?::jsonb, ?, ?`
  const columns = 'name, match, checks, starts_at, ends_at, every, for_seconds, tz, cuts, uptime, shown'
  const rows =
    'uuid' in identity
      ? await query(
          tx,
          typed`INSERT INTO maintenance_windows (${columns}, project_id, uuid)
           VALUES (${placed}, ?, coalesce(?::uuid, gen_random_uuid())) RETURNING ${COLUMNS}`,
          [...values, projectId, identity.uuid],
        )
      : await query(
          tx,
          typed`UPDATE maintenance_windows SET (${columns}) = (${placed}) WHERE project_id = ? AND id = ? RETURNING ${COLUMNS}`,
          [...values, projectId, identity.id],
        )
  const [row] = rows
  return row ? windowOf(row) : null
}

export async function deleteWindow(tx: Knex, id: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM maintenance_windows WHERE id = ?', [id])) === 1
}

export async function pruneWindows(db: Knex, days: number): Promise<void> {
  await execute(db, 'DELETE FROM maintenance_windows WHERE ends_at < now() - make_interval(days => ?::int)', [days])
}

export async function knownChecks(db: Knex, projectId: number, uuids: readonly string[]): Promise<string[]> {
  const rows = await query<{ uuid: string }>(
    db,
    'SELECT uuid::text FROM checks WHERE project_id = ? AND uuid::text = ANY(?::text[])',
    [projectId, uuids],
  )
  return rows.map(({ uuid }) => uuid)
}
