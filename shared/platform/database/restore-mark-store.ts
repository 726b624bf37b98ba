import type { Knex } from 'knex'
import type { Micros } from '../../time.ts'
import { microsOf } from './instants.ts'
import { columns, execute, query, typed } from './sql.ts'

export interface Mark {
  id: string
  at: Micros
}

const WRITE_MARK_EVERY = '30 seconds'
/** Age at which marks are deleted. If all marks in a file are older, the database therefore counts as restored. */
const RETENTION = '7 days'
/** Number of marks in the file: they cover more time than a fail-over to a delayed standby may lose. */
const MARKS_IN_FILE = 12

const INSTALLATION_COLUMNS = columns<{ id: string; restoredFrom: Micros | null }>()(`
  id, ${microsOf('restored_from')} AS restoredFrom`)

export async function readInstallation(db: Knex): Promise<{ id: string; restoredFrom: Micros | null }> {
  const select = typed`SELECT ${INSTALLATION_COLUMNS} FROM installation`
  const read = async () => await query(db, select)
  const [known] = await read()
  if (known) return known
  await execute(db, 'INSERT INTO installation DEFAULT VALUES ON CONFLICT DO NOTHING', [])
  const [made] = await read()
  if (!made) throw new Error('the row of the installation was not stored')
  return made
}

export async function knownMarks(db: Knex, ids: readonly string[]): Promise<string[]> {
  const rows = await query<{ id: string }>(db, 'SELECT id FROM restore_marks WHERE id = ANY(?::uuid[])', [[...ids]])
  return rows.map(({ id }) => id)
}

const MARK_COLUMNS = columns<Mark>({ id: 'id', at: microsOf('made_at') })

/** Creates a mark if the newest is half a minute old; returns the newest first. */
export async function makeMark(db: Knex): Promise<Mark[]> {
  return await query(
    db,
    typed`WITH old AS (DELETE FROM restore_marks WHERE made_at < now() - interval '${RETENTION}'),
       made AS (
         INSERT INTO restore_marks SELECT
         WHERE NOT EXISTS (SELECT FROM restore_marks WHERE made_at > clock_timestamp() - interval '${WRITE_MARK_EVERY}')
         RETURNING id, made_at)
     SELECT ${MARK_COLUMNS} FROM (SELECT id, made_at FROM made UNION ALL SELECT id, made_at FROM restore_marks) AS marks
     ORDER BY made_at DESC LIMIT ${MARKS_IN_FILE}`,
    [],
  )
}

export async function recordRestore(db: Knex): Promise<void> {
  await execute(
    db,
    `UPDATE installation SET restored_from = coalesce((SELECT max(made_at) FROM restore_marks), now()), found_at = now()
     WHERE restored_from IS NULL`,
    [],
  )
}

/** Rows created up to this time may have been processed by the lost database, or are too old. */
const BEFORE_RESTORE = `(SELECT greatest(restored_from + interval '1 minute', found_at - interval '1 minute') FROM installation)`

export interface Suppressed {
  flips: number
  notifications: number
  mails: number
  /** incidents whose due step is postponed by 15 minutes, until recoveries are processed */
  postponed: number
}

/** Suppresses due notifications, which were sent or are too old. Receivers recognise webhooks by id. */
export async function acceptRestore(db: Knex): Promise<Suppressed> {
  return await db.transaction(async (tx) => {
    const notifications = await execute(
      tx,
      `UPDATE notifications SET state = 'suppressed', finished_at = now(), next_attempt_at = NULL, lease_until = NULL,
         error = 'The database was restored from a backup.'
       WHERE state = 'pending' AND created_at <= ${BEFORE_RESTORE}`,
      [],
    )
    const flips = await execute(
      tx,
      `UPDATE flips SET processed_at = now()
       WHERE processed_at IS NULL AND at <= ${BEFORE_RESTORE}`,
      [],
    )
    const postponed = await execute(
      tx,
      `UPDATE incidents SET next_at = now() + interval '15 minutes' WHERE next_at < now() + interval '15 minutes'`,
      [],
    )
    const mails = await execute(tx, `DELETE FROM outgoing_mails WHERE created_at <= ${BEFORE_RESTORE}`, [])
    await execute(tx, `UPDATE personal_notices SET state = 'done' WHERE created_at <= ${BEFORE_RESTORE}`, [])
    await execute(tx, 'UPDATE installation SET restored_from = NULL, found_at = NULL', [])
    return { flips, notifications, mails, postponed }
  })
}
