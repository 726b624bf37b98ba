import type { Knex } from 'knex'
import type { Micros } from '../../time.ts'
import { microsOf } from './instants.ts'
import { columns, query, typed } from './sql.ts'

export async function pingServer(db: Knex): Promise<void> {
  await query(db, 'SELECT 1')
}

/** Returns true if no policy applies to the login: a superuser, or a role with BYPASSRLS. */
export async function bypassesRowSecurity(db: Knex): Promise<boolean> {
  const [row] = await query<{ bypasses: boolean }>(
    db,
    'SELECT rolsuper OR rolbypassrls AS bypasses FROM pg_roles WHERE rolname = session_user',
  )
  return row?.bypasses ?? false
}

export async function readServerClock(db: Knex): Promise<Micros> {
  const [row] = await query<{ now: Micros }>(db, `SELECT ${microsOf('clock_timestamp()')} AS now`)
  if (!row) throw new Error('the database returned no time')
  return row.now
}

const SERVER_COLUMNS = columns<{ version: number; role: string }>()(`
  current_setting('server_version_num')::int AS version, current_user AS role`)

/** The version is a number: 150004 is 15.4. */
export async function describeServer(db: Knex): Promise<{ version: number; role: string }> {
  const [row] = await query(db, typed`SELECT ${SERVER_COLUMNS}`)
  if (!row) throw new Error('the database returned no version')
  return row
}

/** The pooler between this process and PostgreSQL (docs/scale.md, docs/adr/0012). */
export const poolers = ['none', 'session', 'transaction'] as const
export type Pooler = (typeof poolers)[number]

export class PoolerError extends Error {
  override name = 'PoolerError'
}

/** Timeouts are in milliseconds. */
export function sessionSettings(timeoutMs: number) {
  return {
    statement_timeout: timeoutMs,
    // Shorter than the statement timeout, whose error does not name the lock.
    lock_timeout: Math.ceil(timeoutMs * 0.8),
    idle_in_transaction_session_timeout: timeoutMs * 3,
    // JIT compiles statements over thousands of rows for about 100 ms, longer than any of them runs.
    jit: 'off',
  }
}

export interface ReplicationState {
  /** servers that stream from this one, without base backups */
  standbys: number
  isSynchronous: boolean
}

/** Settings of synchronous_commit with which a commit waits for a standby. */
const WAITING = ['on', 'remote_write', 'remote_apply']

const REPLICATION_COLUMNS = columns<{ standbys: number; names: string; commit: string }>()(`
  (SELECT count(*)::int FROM pg_stat_replication WHERE application_name <> 'pg_basebackup') AS standbys,
  current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit`)

/**
 * Reads only what every login may read. A commit that waits for a missing standby is never confirmed, so the settings
 * alone show the durability.
 */
export async function readReplication(db: Knex): Promise<ReplicationState> {
  const [row] = await query(db, typed`SELECT ${REPLICATION_COLUMNS}`)
  if (!row) throw new Error('the database returned no standbys')
  return { standbys: row.standbys, isSynchronous: row.names.trim() !== '' && WAITING.includes(row.commit) }
}

export interface ArchivingState {
  isOn: boolean
  isFailing: boolean
  /** age of the last archived segment; null before the first */
  ageSeconds: number | null
}

const ARCHIVING_STATE_COLUMNS = columns<ArchivingState>()(`
  current_setting('archive_mode') <> 'off' AS isOn,
  coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) AS isFailing,
  extract(epoch FROM now() - last_archived_time)::float AS ageSeconds`)

export async function readArchiving(db: Knex): Promise<ArchivingState> {
  const [row] = await query(db, typed`SELECT ${ARCHIVING_STATE_COLUMNS} FROM pg_stat_archiver`)
  if (!row) throw new Error('the database returned no archiver')
  return row
}
