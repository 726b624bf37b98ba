import type { Knex } from 'knex'
import { query } from './sql.ts'

/** How far a commit reaches before it is answered. */
export interface ReplicationState {
  /** servers that stream from this one; copies for a backup are not among them */
  standbys: number
  /** whether a commit waits for at least one of them */
  isSynchronous: boolean
}

/** Settings of synchronous_commit with which a commit waits for a standby. */
const WAITING = ['on', 'remote_write', 'remote_apply']

/**
 * Reads what every login may: the states of single standbys are for superusers. A commit that waits for a standby which
 * is not there is never answered, so the settings alone tell what an answer promises.
 */
export async function readReplication(db: Knex): Promise<ReplicationState> {
  const [row] = await query<{ standbys: number; names: string; commit: string }>(
    db,
    `SELECT (SELECT count(*)::int FROM pg_stat_replication WHERE application_name <> 'pg_basebackup') AS standbys,
            current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit`,
  )
  if (!row) throw new Error('the database did not tell its standbys')
  return { standbys: row.standbys, isSynchronous: row.names.trim() !== '' && WAITING.includes(row.commit) }
}

/** Whether the server copies its log elsewhere. */
export interface ArchivingState {
  isOn: boolean
  /** whether the newest attempt failed */
  isFailing: boolean
  /** since the newest segment was copied; null before the first */
  ageSeconds: number | null
}

export async function readArchiving(db: Knex): Promise<ArchivingState> {
  const [row] = await query<ArchivingState>(
    db,
    `SELECT current_setting('archive_mode') <> 'off' AS "isOn",
            coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS "isFailing",
            extract(epoch FROM now() - last_archived_time)::float AS "ageSeconds"
     FROM pg_stat_archiver`,
  )
  if (!row) throw new Error('the database did not tell its archiver')
  return row
}
