import type { Knex } from 'knex'
import { microsOf } from '../../platform/database/instants.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Micros } from '../../time.ts'

export interface CalendarFeed {
  id: number
  uuid: string
  /** null: the shifts of a person */
  scheduleId: number | null
  userId: number | null
  name: string
  createdBy: string
  createdAt: Micros
}

const COLUMNS = columns<CalendarFeed>()(`
  f.id, f.uuid, f.schedule_id, f.user_id, f.name, f.created_by, ${microsOf('f.created_at')} AS createdAt`)

export async function feedsOf(db: Knex, scheduleId: number): Promise<CalendarFeed[]> {
  return await query(db, typed`SELECT ${COLUMNS} FROM calendar_feeds f WHERE f.schedule_id = ? ORDER BY f.id`, [
    scheduleId,
  ])
}

export async function feedOfPerson(db: Knex, userId: number): Promise<CalendarFeed | null> {
  const [row] = await query(db, typed`SELECT ${COLUMNS} FROM calendar_feeds f WHERE f.user_id = ?`, [userId])
  return row ?? null
}

/** `digests` use every secret key in use. */
export async function findFeedByDigest(db: Knex, digests: readonly Buffer[]): Promise<CalendarFeed | null> {
  const [row] = await query(db, typed`SELECT ${COLUMNS} FROM calendar_feeds f WHERE f.digest = ANY(?::bytea[])`, [
    digests,
  ])
  return row ?? null
}

/** Returns a feed of a schedule of the project. */
export async function findFeed(db: Knex, projectId: number, uuid: string): Promise<CalendarFeed | null> {
  const [row] = await query(
    db,
    typed`SELECT ${COLUMNS} FROM calendar_feeds f JOIN schedules s ON s.id = f.schedule_id
     WHERE s.project_id = ? AND f.uuid = ?::uuid`,
    [projectId, uuid],
  )
  return row ?? null
}

/** Replaces the feed of the same person, whose address then ends. */
export async function insertFeed(
  tx: Knex,
  feed: { digest: Buffer; scheduleId: number | null; userId: number | null; name: string; createdBy: string },
): Promise<CalendarFeed> {
  const [row] = await query(
    tx,
    typed`INSERT INTO calendar_feeds AS f (digest, schedule_id, user_id, name, created_by) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (user_id) DO UPDATE
     SET uuid = excluded.uuid, digest = excluded.digest, created_at = excluded.created_at
     RETURNING ${COLUMNS}`,
    [feed.digest, feed.scheduleId, feed.userId, feed.name, feed.createdBy],
  )
  if (!row) throw new Error('an inserted row is returned')
  return row
}

export async function deleteFeed(tx: Knex, id: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM calendar_feeds WHERE id = ?', [id])) === 1
}

export async function deleteFeedOfPerson(tx: Knex, userId: number): Promise<boolean> {
  return (await execute(tx, 'DELETE FROM calendar_feeds WHERE user_id = ?', [userId])) === 1
}
